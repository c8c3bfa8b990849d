package config

import "testing"

func TestTheFingerprintSeesMeaningOnly(t *testing.T) {
	const base = `
[[workload]]
name = "web"
target = { via = "process", command = ["web"] }
max_replicas = 5
`
	for _, c := range []struct {
		name, text string
		same       bool
	}{
		{"the same", base, true},
		{"layout and comments", `# a comment

[[workload]] # another
max_replicas = 0x5
name = 'web'
[workload.target]
command = [
   "web", # a comment
]
via = "process"
`, true},
		{"another workload before", workloadText("before") + base, true},
		{"the sync period", "[daemon]\nsync_period = \"30s\"\n" + base, true},
		{"a rule", base + "min_replicas = 2\n", false},
		{"an empty table", base + "behavior = {}\n", false},
		{"the target", base + "[workload.target.env]\nA = \"b\"\n", false},
		{"a setting", "[daemon]\ntolerance = 0.2\n" + base, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeConfig(t, base)
			before, _ := Load(path, Known{})
			writeOver(t, path, c.text)
			after, _ := Load(path, Known{})
			last := after.Workloads[len(after.Workloads)-1]
			if got := last.Fingerprint == before.Workloads[0].Fingerprint; got != c.same {
				t.Errorf("fingerprints are equal: %v, want %v", got, c.same)
			}
		})
	}
}
