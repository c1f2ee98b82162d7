package metrics

import "github.com/prometheus/client_golang/prometheus"

// RegisterWhileUsed registers the collectors with the registry of a configuration that may not
// use them. They collect nothing while isUsed returns false. A later Register has no further
// effect.
func (m *Metrics) RegisterWhileUsed(isUsed func() bool, registry prometheus.Registerer) error {
	for _, c := range m.allCollectors() {
		if err := register(registry, conditionalCollector{c, isUsed}); err != nil {
			return err
		}
	}
	return nil
}

// conditionalCollector is a collector that collects only while it is used.
type conditionalCollector struct {
	prometheus.Collector
	isUsed func() bool
}

// Collect implements [prometheus.Collector].
func (c conditionalCollector) Collect(ch chan<- prometheus.Metric) {
	if c.isUsed() {
		c.Collector.Collect(ch)
	}
}
