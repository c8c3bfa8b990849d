package daemon

import (
	"strings"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// ownCondition is one of hpad's own conditions, which stand after the HPA's.
type ownCondition uint8

const (
	// targetBlocked is True while the target does not take a change that was decided.
	targetBlocked ownCondition = iota
	// evaluationFailed is True if the last evaluation failed, for whatever reason.
	evaluationFailed
	// dryRun is True while a change is wanted that a dry run does not make.
	dryRun
	numOwnConditions
)

func (c ownCondition) String() string {
	return [numOwnConditions]string{"TargetBlocked", "EvaluationFailed", "DryRun"}[c]
}

// ownConditions holds one condition per type; the zero Condition was never set.
type ownConditions [numOwnConditions]algorithm.Condition

func (o *ownConditions) set(c ownCondition, at time.Time, status algorithm.ConditionStatus, reason, message string) {
	since := at
	if o[c].Status == status {
		since = o[c].Since
	}
	o[c] = algorithm.Condition{Status: status, Reason: reason, Message: message, Since: since}
}

// camel turns a word such as "no_data" into one such as "NoData".
func camel(word string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(word, "_") {
		b.WriteString(strings.ToUpper(part[:1]))
		b.WriteString(part[1:])
	}
	return b.String()
}
