package placement

import "go.uber.org/zap"

// warnErrors tells of guards in the error routes of a server.
func warnErrors(server string, routes []Route, logger *zap.Logger) error {
	placed, err := In(server, routes)
	for _, p := range placed {
		if p.Name == Guard {
			logger.Warn("robots_guard stands in handle_errors, to which only requests come that have failed, and it judges none that a guard before has judged; "+
				"write it outside of handle_errors, where it judges all requests",
				zap.String("site", p.Site()))
		}
	}
	return err
}
