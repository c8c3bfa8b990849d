package config

import (
	"slices"
	"strings"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
)

// metrics makes the [[workload.metric]] tables.
func (l *loader) metrics(s *scope, w *Workload, tables []rawTable) {
	for i, values := range tables {
		key := element("metric", i)
		keys := defaultMetric()
		s.add(key, options.Decode(s.dir, values, &keys))
		m := algorithm.Metric{
			Type:      algorithm.MetricType(keys.Type),
			Name:      keys.Name,
			Container: keys.Container,
			Object:    keys.Object,
			Target:    targetValue(s, key, &keys),
		}
		checkType(s, key, &keys)
		same := func(o algorithm.Metric) bool {
			return m.Type == o.Type && m.Name == o.Name && m.Container == o.Container && m.Object == o.Object
		}
		if j := slices.IndexFunc(w.Spec.Metrics, same); j >= 0 && m.Name != "" {
			s.failf(key+".name", "%s is also the name of metric[%d], of the same type", quoted(m.Name), j)
		}
		l.origin(s, key, &keys, values)
		w.Spec.Metrics = append(w.Spec.Metrics, m)
		w.Metrics = append(w.Metrics, keys.origin())
	}
}

func checkType(s *scope, key string, keys *metricKeys) {
	t := algorithm.MetricType(keys.Type)
	switch {
	case t == "":
		s.failf(key+".type", "is required: resource, container_resource, instances, object or external")
	case pods(keys.Type):
		s.failf(key+".type", `must be "instances" for what Kubernetes calls pods, is %q`, t)
	case t == algorithm.TypeResource || t == algorithm.TypeContainerResource:
		if keys.Name != "" {
			checkResource(s, key+".name", keys.Name)
		}
	}
}

// checkResource makes sure that a source can measure what is named.
func checkResource(s *scope, key, name string) {
	if name != "cpu" && name != "memory" {
		s.failf(key, `must be "cpu" or "memory", is %s`, options.Show(name))
	}
}

func (k metricKeys) origin() Metric {
	return Metric{
		Source:         k.Source,
		Query:          k.Query,
		Select:         k.Select,
		InstanceLabel:  k.InstanceLabel,
		MaxAge:         k.MaxAge,
		CheckTimestamp: k.CheckTimestamp,
	}
}

// targetValue reads the one of value, average_value and average_utilization that is given.
func targetValue(s *scope, key string, keys *metricKeys) algorithm.TargetValue {
	var given []string
	var target algorithm.TargetValue
	for kind, text := range map[algorithm.TargetKind]*decimal{
		algorithm.KindValue:        keys.Value,
		algorithm.KindAverageValue: keys.AverageValue,
	} {
		if text != nil {
			given = append(given, string(kind))
			q, _ := quantity(s, options.JoinKey(key, string(kind)), *text)
			target = algorithm.TargetValue{Kind: kind, Value: int64(q)}
		}
	}
	if percent := keys.AverageUtilization; percent != nil {
		given = append(given, string(algorithm.KindAverageUtilization))
		target = algorithm.TargetValue{Kind: algorithm.KindAverageUtilization, Value: int64(*percent)}
	}
	if len(given) > 1 {
		slices.Sort(given)
		s.failf(key, "only one target value may be given, there are %s", strings.Join(given, " and "))
		return algorithm.TargetValue{}
	}
	return target
}

func quantity(s *scope, key string, text decimal) (algorithm.Quantity, bool) {
	q, err := algorithm.ParseQuantity(string(text))
	if err != nil {
		s.failf(key, `must be a number or a quantity such as "250m", is %s`, options.Show(string(text)))
	}
	return q, err == nil
}

// origin checks where the samples come from.
func (l *loader) origin(s *scope, key string, keys *metricKeys, values map[string]any) {
	t := algorithm.MetricType(keys.Type)
	queried := t == algorithm.TypeInstances || t == algorithm.TypeObject || t == algorithm.TypeExternal
	if keys.MaxAge <= 0 {
		s.failf(key+".max_age", "must be > 0s, is %s", options.Duration(keys.MaxAge))
	}
	if keys.Source != "" {
		l.sources.use(s, key+".source", keys.Source)
	}
	if queried && keys.Source == "" {
		s.failf(key+".source", "is required for a metric of type %s%s", t, knownAre(l.sources.known))
	}
	if queried && keys.Query == "" {
		s.failf(key+".query", "is required for a metric of type %s", t)
	}
	if t == algorithm.TypeObject && keys.Object == "" {
		s.failf(key+".object", "is required for a metric of type object, such as \"Ingress/main\"")
	}
	if t == algorithm.TypeInstances && keys.InstanceLabel == "" {
		s.failf(key+".instance_label", "must not be empty")
	}
	l.misplaced(s, key, t, values)
}

// misplaced tells of keys that mean nothing for the type of the metric.
func (l *loader) misplaced(s *scope, key string, t algorithm.MetricType, values map[string]any) {
	for _, rule := range []struct {
		key   string
		types []algorithm.MetricType
	}{
		{"container", []algorithm.MetricType{algorithm.TypeContainerResource}},
		{"object", []algorithm.MetricType{algorithm.TypeObject}},
		{"query", queriedTypes},
		{"select", queriedTypes},
		{"check_timestamp", queriedTypes},
		{"instance_label", []algorithm.MetricType{algorithm.TypeInstances}},
	} {
		if _, given := values[rule.key]; given && knownType(t) && !slices.Contains(rule.types, t) {
			s.failf(key+"."+rule.key, "has no meaning for a metric of type %s", t)
		}
	}
}

var queriedTypes = []algorithm.MetricType{algorithm.TypeInstances, algorithm.TypeObject, algorithm.TypeExternal}

func knownType(t algorithm.MetricType) bool {
	return t == algorithm.TypeResource || t == algorithm.TypeContainerResource || slices.Contains(queriedTypes, t)
}
