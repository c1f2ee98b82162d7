package logformat

const second = 1_000_000_000 // in nanoseconds, the unit of all times in this file

// digits parses a number of exactly len(b) digits. It returns -1 for anything else.
func digits(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// days returns the days from 1970 to a date of the proleptic Gregorian calendar.
func days(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
}

// daysIn returns the days of a month.
func daysIn(year, month int) int { return days(year+month/12, month%12+1, 1) - days(year, month, 1) }

// unix converts a date and time to Unix nanoseconds. ok is false for an invalid date or time, and
// for a year that nanoseconds cannot represent.
func unix(year, month, day, hour, minute, sec, zone int) (at int64, ok bool) {
	if year < 1700 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(year, month) ||
		uint(hour) > 23 || uint(minute) > 59 || uint(sec) > 60 {
		return 0, false
	}
	return (int64(days(year, month, day))*86400 + int64(hour*3600+minute*60+sec-zone)) * second, true
}

// zoneOf parses +0100, +01:00 or Z and returns seconds.
func zoneOf(b []byte) (zone int, ok bool) {
	switch {
	case len(b) == 1 && b[0]|0x20 == 'z':
		return 0, true
	case len(b) == 6 && b[3] == ':':
		zone = digits(b[1:3])*3600 + digits(b[4:])*60
		ok = digits(b[1:3]) >= 0 && digits(b[4:]) >= 0
	case len(b) == 5:
		n := digits(b[1:])
		zone, ok = n/100*3600+n%100*60, n >= 0
	}
	switch {
	case !ok:
	case b[0] == '-':
		zone = -zone
	case b[0] != '+':
		ok = false
	}
	return zone, ok
}

var months = [...]string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

const commonTimeLength = len("02/Jan/2006:15:04:05 -0700")

// commonTime parses the time of the Common format, 02/Jan/2006:15:04:05 -0700.
func commonTime(b []byte) (at int64, ok bool) {
	if len(b) != commonTimeLength || b[2] != '/' || b[6] != '/' || b[11] != ':' || b[14] != ':' || b[17] != ':' || b[20] != ' ' {
		return 0, false
	}
	month := 0
	for i, name := range months {
		if foldEqual(b[3:6], name) {
			month = i + 1
			break
		}
	}
	zone, ok := zoneOf(b[21:])
	if !ok {
		return 0, false
	}
	return unix(digits(b[7:11]), month, digits(b[:2]), digits(b[12:14]), digits(b[15:17]), digits(b[18:20]), zone)
}

// isoTime parses RFC 3339 and similar times: a space or T before the time, "/" in the date,
// fractions, no zone (UTC).
func isoTime(b []byte) (at int64, ok bool) {
	if len(b) < 19 || b[4] != b[7] || b[4] != '-' && b[4] != '/' || b[13] != ':' || b[16] != ':' || b[10] != 'T' && b[10] != ' ' && b[10] != 't' {
		return 0, false
	}
	rest := b[19:]
	var fraction int64
	if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
		i, unit := 1, int64(second)
		for ; i < len(rest) && '0' <= rest[i] && rest[i] <= '9'; i++ {
			unit /= 10
			fraction += int64(rest[i]-'0') * unit
		}
		rest = rest[i:]
	}
	zone := 0
	if len(rest) > 0 {
		if zone, ok = zoneOf(rest); !ok {
			return 0, false
		}
	}
	at, ok = unix(digits(b[:4]), digits(b[5:7]), digits(b[8:10]), digits(b[11:13]), digits(b[14:16]), digits(b[17:19]), zone)
	return at + fraction, ok
}

// unixTime parses Unix seconds with or without a fraction. A large number is in milli-, micro- or
// nanoseconds.
func unixTime(b []byte) (at int64, ok bool) {
	i := 0
	for ; i < len(b) && b[i] != '.'; i++ {
		digit := b[i] - '0'
		if digit > 9 || i >= 18 && at > (1<<63-1-9)/10 {
			return 0, false
		}
		at = at*10 + int64(digit)
	}
	if i == 0 || i > 19 {
		return 0, false
	}
	unit := int64(1)
	switch {
	case at < 1e10:
		unit = second
	case at < 1e13:
		unit = second / 1e3
	case at < 1e16:
		unit = second / 1e6
	}
	if unit > 1 && at > (1<<63-1)/unit-1 {
		return 0, false
	}
	fraction := int64(0)
	for at *= unit; i+1 < len(b); i++ {
		digit := b[i+1] - '0'
		if digit > 9 {
			return 0, false
		}
		if unit > 1 {
			unit /= 10
			fraction = fraction*10 + int64(digit)
		}
	}
	return at + fraction*unit, true
}

// anyTime parses a time in any of these notations.
func anyTime(b []byte) (at int64, ok bool) {
	if at, ok = isoTime(b); !ok {
		if at, ok = commonTime(b); !ok {
			at, ok = unixTime(b)
		}
	}
	return at, ok
}

// timeCache caches the last parsed time, since many consecutive lines have the same time.
type timeCache struct {
	text  [32]byte
	n     int
	value int64
}

// parse returns the result of read for b.
func (c *timeCache) parse(b []byte, read func([]byte) (int64, bool)) (int64, bool) {
	if len(b) == c.n && string(b) == string(c.text[:c.n]) && c.n > 0 {
		return c.value, true
	}
	at, ok := read(b)
	if ok && len(b) <= len(c.text) {
		c.n, c.value = copy(c.text[:], b), at
	}
	return at, ok
}
