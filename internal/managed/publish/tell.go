package publish

import (
	"go.uber.org/zap"
)

// tell logs that the history fails, and that it does no more, each once.
func (r *Release) tell(err error) {
	r.Observer.HistoryFailed(r.place.Name, err)
	said := ""
	if err != nil {
		said = err.Error()
	}
	switch {
	case said == r.told:
	case err != nil:
		r.Logger.Warn("the history of a robots_txt cannot be read or written; what was published stays as far as it is known, and it is tried again",
			zap.String("site", r.place.Name), zap.Error(err))
	default:
		r.Logger.Info("the history of a robots_txt can be read and written again", zap.String("site", r.place.Name))
	}
	r.told = said
}

// log logs that a change has another state.
func (r *Release) log(c *Change) {
	fields := []zap.Field{zap.String("site", r.place.Name), zap.String("change", c.ID), zap.String("who", c.Made.Who)}
	switch c.State {
	case Waiting:
		r.Logger.Warn("a change of a robots_txt waits for confirmation; what was published before stays",
			append(fields, zap.Strings("reasons", c.Reasons), zap.String("advice", "caddy robots-guard managed confirm --site "+r.place.Name+" --why <text>"))...)
	case Rejected:
		if !c.StoppedByTrial() {
			r.Logger.Info("a change of a robots_txt was rejected", append(fields, zap.String("by", c.Ended.Who), zap.String("why", c.Ended.Why))...)
			return
		}
		r.Logger.Warn("the trial of a change of a robots_txt has ended by itself", append(fields, zap.String("why", c.Ended.Why))...)
	default:
		r.Logger.Info("a change of a robots_txt is "+string(c.State), fields...)
	}
}
