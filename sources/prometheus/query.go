package prometheus

import (
	"errors"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/hpad/hpad/sources"
)

// CheckQuery says offline whether q can work: its syntax, its type, and whether the times of its
// samples can be asked for. What only some servers know, such as experimental functions, passes.
func (s *source) CheckQuery(q sources.Query) error {
	if strings.TrimSpace(q.Text) == "" {
		return sources.Errorf(sources.BadQuery, "is empty, must be PromQL")
	}
	expr, err := parser.NewParser(parser.Options{
		EnableExperimentalFunctions:  true,
		ExperimentalDurationExpr:     true,
		EnableExtendedRangeSelectors: true,
		EnableBinopFillModifiers:     true,
	}).ParseExpr(q.Text)
	if err != nil {
		return sources.Errorf(sources.BadQuery, "is not PromQL: %w", first(err))
	}
	switch expr.Type() {
	case parser.ValueTypeMatrix:
		return sources.Errorf(sources.BadQuery, "is a range vector, must be an instant vector or a scalar: "+
			"put a function such as rate() or avg_over_time() around it")
	case parser.ValueTypeString:
		return sources.Errorf(sources.BadQuery, "is a string, must be an instant vector or a scalar")
	}
	if q.CheckTimestamp && !selects(expr) {
		return sources.Errorf(sources.BadQuery, "computes, so that its samples have the time of the evaluation "+
			"and never look old: check_timestamp works with a plain selector such as up{job=\"web\"} only")
	}
	return nil
}

// selects tells whether an expression is a vector selector, the only one timestamp() looks through.
func selects(expr parser.Expr) bool {
	for {
		parens, ok := expr.(*parser.ParenExpr)
		if !ok {
			break
		}
		expr = parens.Expr
	}
	_, ok := expr.(*parser.VectorSelector)
	return ok
}

// first returns the first of several errors, without the words "parse error".
func first(err error) error {
	var several parser.ParseErrors
	if errors.As(err, &several) && len(several) > 0 {
		e := several[0]
		return errors.New(e.PositionRange.StartPosInput(e.Query, e.LineOffset) + ": " + e.Err.Error())
	}
	return err
}
