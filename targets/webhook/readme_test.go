package webhook

import (
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets/internal/jsontarget"
	"github.com/hpad/hpad/targets/internal/readme"
)

func TestREADMEDescribesTheOptionsAsTheyAre(t *testing.T) {
	readme.Options(t, "Keys of `[targets.NAME]`:", defaults(), "Keys of a workload's `target`:", jsontarget.Options{})
}

func TestREADMEExampleCanBeBound(t *testing.T) {
	var file struct {
		Targets  map[string]map[string]any `toml:"targets"`
		Workload []struct {
			Target map[string]any `toml:"target"`
		} `toml:"workload"`
	}
	text := readme.Block(t, "README.md", "toml", "[targets.") + readme.Block(t, "README.md", "toml", "[[workload]]")
	if _, err := toml.Decode(text, &file); err != nil || len(file.Workload) != 1 || len(file.Targets) != 1 {
		t.Fatalf("the example has %d workloads: %v", len(file.Workload), err)
	}
	table, target := file.Targets["pools"], file.Workload[0].Target
	delete(table, "driver")
	delete(target, "via")
	delete(table, "tls_config") // whose file is not there
	c := openTable(t, options.NewTable(t.TempDir(), table))
	if _, err := c.Bind(options.NewTable("/", target)); err != nil {
		t.Errorf("cannot bind the example: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
