package store

// alertsName is the one value with all acknowledgements.
const alertsName = "acknowledged" + suffixJSON

// newAlerts returns the kind of what the owner knows of alerts.
func newAlerts(s *Store) *single {
	known := s.memory.parts.Acknowledgements
	return &single{
		store: s, kindName: kindAlerts, value: alertsName, about: "the acknowledgements", known: known,
		at: func() revision { return revision{urgent: known.Revision()} },
	}
}
