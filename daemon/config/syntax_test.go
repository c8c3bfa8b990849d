package config

import "testing"

func TestWhatIsNoTOMLIsExplainedByTheMistake(t *testing.T) {
	const quotes = `texts, and numbers with a unit, must stand in quotes: "…"`
	for text, want := range map[string]string{
		"sync_period = 15s":                 quotes,
		"name = web":                        quotes,
		"target = { via = swarm }":          quotes,
		"target = { period = 15s, a = 1}":   quotes,
		"p = hunter2":                       quotes,
		"dry_run = True":                    "what is on or off is written as true or false",
		"dry_run = yes":                     "what is on or off is written as true or false",
		"name = “web”":                      `quotes must be straight: "…"`,
		"name =":                            "there is no value behind =",
		"name = # none":                     "there is no value behind =",
		"name: web":                         `this must be TOML: key = value, not "key: value"`,
		"daemon:":                           `this must be TOML: key = value, not "key: value"`,
		"{\"workload\": []}":                "this must be TOML: key = value, with tables as [name]",
		"[[workload]\nname = \"web\"":       "a header must be [name], or [[name]] for workloads and metrics",
		"[work load]":                       "a header must be [name], or [[name]] for workloads and metrics",
		"name = \"web":                      "the closing quote is missing",
		"name = \"web\nmin = 2":             "the closing quote is missing",
		"max = 03":                          `invalid integer "03": cannot have leading zeroes`,
		"a = 1\n\na = 2":                    `key "a" has already been defined on line 1`,
		"[a]\n[b]\n[a]":                     `key "a" has already been defined on line 1`,
		"[[w]]\nx = 1\n[[w]]\nx = 1\nx = 2": `key "w.x" has already been defined on line 4`,
	} {
		_, problems := parseDocument("hpad.toml", text)
		if len(problems) != 1 || problems[0].Message != "cannot parse: "+want {
			t.Errorf("%q: got %v, want %s", text, problems, want)
		}
	}
}
