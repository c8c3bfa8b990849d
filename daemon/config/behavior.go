package config

import (
	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
)

// behavior is nil only if there is no such table: an empty one has a meaning.
func behavior(s *scope, table rawTable) *algorithm.Behavior {
	if table == nil {
		return nil
	}
	var keys behaviorKeys
	s.add("behavior", options.Decode(s.dir, table, &keys))
	return &algorithm.Behavior{
		ScaleUp:   rules(s, "behavior.scale_up", keys.ScaleUp),
		ScaleDown: rules(s, "behavior.scale_down", keys.ScaleDown),
	}
}

func rules(s *scope, key string, keys rulesKeys) algorithm.Rules {
	r := algorithm.Rules{
		StabilizationWindow: keys.StabilizationWindow,
		SelectPolicy:        algorithm.SelectPolicy(keys.SelectPolicy),
	}
	if keys.Tolerance != nil {
		tolerance, err := algorithm.ParseTolerance(string(*keys.Tolerance))
		if err != nil {
			s.failf(key+".tolerance", "must be a number such as 0.05, is %s", options.Show(string(*keys.Tolerance)))
		}
		r.Tolerance = &tolerance
	}
	if keys.Policies != nil {
		r.Policies = []algorithm.Policy{}
	}
	for _, p := range keys.Policies {
		r.Policies = append(r.Policies, algorithm.Policy{
			Type:   algorithm.PolicyType(p.Type),
			Value:  p.Value,
			Period: p.Period,
		})
	}
	return r
}
