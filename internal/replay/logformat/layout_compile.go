package logformat

import (
	"errors"
	"fmt"
	"strings"
)

// parseLayout reads a format string: nginx's log_format if there is a $ in it,
// Apache's LogFormat if there is a %.
func parseLayout(format string) (*layout, error) {
	var c layoutCompiler
	var err error
	switch {
	case strings.ContainsRune(format, '$'):
		err = c.nginx(format)
	case strings.ContainsRune(format, '%'):
		err = c.apache(format)
	default:
		return nil, errors.New("it has neither $variables as nginx's log_format nor %directives as Apache's LogFormat")
	}
	if err != nil {
		return nil, err
	}
	c.layout.tail = c.text.String()
	c.layout.finish()
	if !c.layout.has(requestField) && !c.layout.has(targetField) {
		return nil, errors.New("it has no request as it was sent; $request, $request_uri or %r is needed")
	}
	return &c.layout, nil
}

// layoutCompiler collects the steps of a layout.
type layoutCompiler struct {
	layout layout
	text   strings.Builder
}

// add ends the text before a field.
func (c *layoutCompiler) add(name string, f field) error {
	if c.text.Len() == 0 && len(c.layout.steps) > 0 {
		return fmt.Errorf("nothing stands between %s and the field before it, so nobody can tell where one ends", name)
	}
	c.layout.steps = append(c.layout.steps, step{text: c.text.String(), field: f})
	c.text.Reset()
	return nil
}

// nginxFields are the variables that mean something here; others are skipped.
var nginxFields = map[string]field{
	"remote_addr": clientField, "realip_remote_addr": skipped,
	"time_local": timeField, "time_iso8601": timeField, "msec": timeField,
	"request": requestField, "request_method": methodField, "request_uri": targetField,
	"status": statusField, "host": hostField, "http_host": hostField, "server_port": portField, "scheme": schemeField,
	"http_user_agent": agentField, "body_bytes_sent": sizeField, "bytes_sent": sizeField, "http_referer": refererField,
}

func (c *layoutCompiler) nginx(format string) error {
	for format != "" {
		if format[0] != '$' {
			c.text.WriteByte(format[0])
			format = format[1:]
			continue
		}
		format = strings.TrimPrefix(format[1:], "{")
		n := 0
		for n < len(format) && (format[n] == '_' || format[n]|0x20 >= 'a' && format[n]|0x20 <= 'z' || format[n] >= '0' && format[n] <= '9') {
			n++
		}
		name := format[:n]
		format = strings.TrimPrefix(format[n:], "}")
		if name == "" {
			return errors.New("there is a $ without a name")
		}
		if err := c.add("$"+name, nginxFields[name]); err != nil {
			return err
		}
	}
	return nil
}

func (c *layoutCompiler) apache(format string) error {
	// As it stands in a configuration: \" for a quote, \t for a tab.
	format = strings.NewReplacer(`\"`, `"`, `\t`, "\t", `\\`, `\`).Replace(format)
	for format != "" {
		if format[0] != '%' {
			c.text.WriteByte(format[0])
			format = format[1:]
			continue
		}
		format = format[1:]
		if strings.HasPrefix(format, "%") {
			c.text.WriteByte('%')
			format = format[1:]
			continue
		}
		format = strings.TrimLeft(format, "!<>,0123456789")
		argument := ""
		if strings.HasPrefix(format, "{") {
			var ok bool
			if argument, format, ok = strings.Cut(format[1:], "}"); !ok {
				return errors.New("a { has no }")
			}
			format = strings.TrimLeft(format, "!<>,0123456789")
		}
		if format == "" {
			return errors.New("it ends within a directive")
		}
		directive := format[:1]
		format = format[1:]
		if directive == "^" && len(format) >= 2 { // %^FB, %{name}^ti
			directive, format = "^"+format[:2], format[2:]
		}
		f, err := apacheField(directive, argument)
		if err != nil {
			return err
		}
		bracketed := f == timeField && argument == ""
		if bracketed {
			c.text.WriteByte('[')
		}
		if err := c.add("%"+directive, f); err != nil {
			return err
		}
		if bracketed {
			c.text.WriteByte(']')
		}
	}
	return nil
}

// apacheField tells what a directive of a LogFormat stands for.
func apacheField(directive, argument string) (field, error) {
	switch directive {
	case "h":
		return clientField, nil
	case "a":
		if argument == "" {
			return clientField, nil
		}
	case "t":
		switch strings.TrimPrefix(strings.TrimPrefix(argument, "begin:"), "end:") {
		case "", "sec", "msec", "usec", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%T%z", "%FT%T%z", "%Y-%m-%d %H:%M:%S %z", "%d/%b/%Y:%H:%M:%S %z":
			return timeField, nil
		}
		return 0, fmt.Errorf("the time %%{%s}t is not understood; %%t, %%{sec}t and %%{%%Y-%%m-%%dT%%H:%%M:%%S%%z}t are", argument)
	case "r":
		return requestField, nil
	case "m":
		return methodField, nil
	case "s":
		return statusField, nil
	case "v", "V":
		return hostField, nil
	case "p":
		return portField, nil
	case "i":
		switch strings.ToLower(argument) {
		case "user-agent":
			return agentField, nil
		case "host":
			return hostField, nil
		case "referer":
			return refererField, nil
		}
	case "b", "B", "O":
		return sizeField, nil
	}
	return skipped, nil
}
