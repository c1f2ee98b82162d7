package metrics

import "github.com/prometheus/client_golang/prometheus"

// RegisterWhile registers the collectors with the registry of a configuration that may not
// use them. They collect nothing while isUsed returns false. A later Register has no further
// effect.
func (m *Metrics) RegisterWhile(isUsed func() bool, registry prometheus.Registerer) error {
	for _, c := range m.all() {
		if err := register(registry, collectorWhile{c, isUsed}); err != nil {
			return err
		}
	}
	return nil
}

// collectorWhile is a collector that collects only while it is used.
type collectorWhile struct {
	prometheus.Collector
	isUsed func() bool
}

// Collect implements [prometheus.Collector].
func (c collectorWhile) Collect(ch chan<- prometheus.Metric) {
	if c.isUsed() {
		c.Collector.Collect(ch)
	}
}
