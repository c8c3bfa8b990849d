package daemon

import "fmt"

// explain is the trace of the last evaluation, one step per line: that of the decision, and what
// became of the change it wanted.
func explain(r *report) []string {
	if r.failure != nil && r.failure.kind == kindPanic && r.failure.reason == reasonPanic {
		return []string{fmt.Sprintf("the evaluation came to no end: %v", r.decision.Err)}
	}
	lines := r.decision.Explain(&r.bound.config.Spec)
	switch r.wrote {
	case held:
		lines = append(lines, "target: not asked, for it must wait: "+r.own[targetBlocked].Message)
	case dry:
		lines = append(lines, "target: not asked, for this is a dry run")
	case failed:
		lines = append(lines, fmt.Sprintf("target: %v", r.failure.err))
	}
	return lines
}
