package sources

import (
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// External returns the values of an external metric: every series that has the labels of sel, in
// the source's order. None is NoData; one that is unusable spoils all, for a sum with a hole in it
// is wrong. A maxAge of 0 lets samples be of any age.
func External(r *Result, sel map[string]string, maxAge time.Duration, now time.Time) ([]algorithm.Quantity, error) {
	c := check{result: r, sel: sel, maxAge: maxAge, now: now}
	series, err := c.selected()
	if err != nil {
		return nil, err
	}
	values := make([]algorithm.Quantity, len(series))
	for i := range series {
		if values[i], err = c.value(&series[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Object returns the one value of an object metric, in a list as Reading.Values wants it. More
// series than one are TooMany; otherwise as External.
func Object(r *Result, sel map[string]string, maxAge time.Duration, now time.Time) ([]algorithm.Quantity, error) {
	c := check{result: r, sel: sel, maxAge: maxAge, now: now}
	series, err := c.selected()
	if err != nil {
		return nil, err
	}
	if len(series) > 1 {
		return nil, c.tooMany(series)
	}
	value, err := c.value(&series[0])
	if err != nil {
		return nil, err
	}
	return []algorithm.Quantity{value}, nil
}

// PerInstance joins the series that have the labels of sel to instances: a series belongs to the
// instance that has the value of its label among its Identifiers, or that value without its port.
// Samples are parallel to instances; unlisted are those of nobody here.
//
// A sample that is too old counts as none, as of an instance that has stopped reporting; it is an
// error (Stale) only if every series is. NaN and infinities are Invalid, as is a series without
// the label, or with one that several instances answer to. Two series of one instance are TooMany.
func PerInstance(r *Result, sel map[string]string, label string, instances []targets.Instance,
	maxAge time.Duration, now time.Time,
) (samples, unlisted []algorithm.Sample, err error) {
	j := join{
		check:     check{result: r, sel: sel, maxAge: maxAge, now: now},
		label:     label,
		instances: instances,
		byName:    byIdentifier(instances),
		samples:   make([]algorithm.Sample, len(instances)),
		owners:    make([]*Series, len(instances)),
	}
	series, err := j.selected()
	if err != nil {
		return nil, nil, err
	}
	for i := range series {
		if err := j.add(&series[i]); err != nil {
			return nil, nil, err
		}
	}
	if j.fresh == 0 {
		return nil, nil, j.stale(&series[0])
	}
	return j.samples, j.unlisted, nil
}
