package scenario

import "github.com/hpad/hpad/algorithm"

// The words of the format; the empty word is the default.
var (
	phases = map[string]algorithm.Phase{
		"": algorithm.PhaseRunning, "running": algorithm.PhaseRunning,
		"pending": algorithm.PhasePending, "succeeded": algorithm.PhaseSucceeded,
		"failed": algorithm.PhaseFailed, "unknown": algorithm.PhaseUnknown,
	}
	readinesses = map[string]algorithm.Readiness{
		"": algorithm.Ready, "yes": algorithm.Ready, "no": algorithm.NotReady,
		"unknown": algorithm.ReadinessUnknown, "absent": algorithm.ReadinessAbsent,
	}
	selectors = map[string]algorithm.Selector{
		"": algorithm.SelectorOK, "ok": algorithm.SelectorOK, "missing": algorithm.SelectorMissing,
		"invalid": algorithm.SelectorInvalid, "ambiguous": algorithm.SelectorAmbiguous,
	}
	targetKinds = map[string]algorithm.TargetKind{
		"": "", "utilization": algorithm.KindAverageUtilization,
		"average_value": algorithm.KindAverageValue, "value": algorithm.KindValue,
	}
	selectPolicies = map[string]algorithm.SelectPolicy{
		"": "", "Max": algorithm.SelectMax, "Min": algorithm.SelectMin,
		"Disabled": algorithm.SelectDisabled,
	}
	policyTypes = map[string]algorithm.PolicyType{
		"pods": algorithm.PolicyInstances, "percent": algorithm.PolicyPercent,
	}
)

// metricType leaves an unknown word as it is: that is the metric's failure, not the scenario's.
func metricType(word string) algorithm.MetricType {
	switch word {
	case "pods":
		return algorithm.TypeInstances
	case string(algorithm.TypeInstances): // no word of the format
		return "instances (here: pods)"
	}
	return algorithm.MetricType(word)
}

// What kinds of container there are.
const (
	kindMain    = "main"
	kindSidecar = "sidecar"
	kindInit    = "init"
)

// What a fault can be.
const (
	faultError        = "error"
	faultConflict     = "conflict"
	faultConflictOnce = "conflict_once"
)
