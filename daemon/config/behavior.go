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
	for i, p := range keys.Policies {
		r.Policies = append(r.Policies, policy(s, options.JoinKey(key, element("policies", i)), p))
	}
	return r
}

func policy(s *scope, key string, keys policyKeys) algorithm.Policy {
	p := algorithm.Policy{Type: algorithm.PolicyType(keys.Type)}
	switch {
	case p.Type == "":
		s.failf(key+".type", "is required: instances or percent")
	case pods(keys.Type):
		s.failf(key+".type", `must be "instances" for what Kubernetes calls pods, is %q`, p.Type)
	}
	if keys.Value == nil {
		s.failf(key+".value", "is required")
	} else {
		p.Value = *keys.Value
	}
	if keys.Period == nil {
		s.failf(key+".period", "is required, such as \"15s\"")
	} else {
		p.Period = *keys.Period
	}
	return p
}
