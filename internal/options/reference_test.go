package options

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type described struct {
	URL     string        `toml:"url" doc:"Where it is: a|b."`
	Timeout time.Duration `toml:"timeout" doc:"How long."`
	Retry   Duration      `toml:"retry" doc:"How long between."`
	Names   []string      `toml:"names" doc:"Who."`
	Quick   bool          `toml:"quick" doc:"Hurry."`
	Auth    *struct {
		File Secret `toml:"password_file" doc:"The password."`
	} `toml:"basic_auth" doc:"Who asks."`
	Headers map[string]struct {
		Values []string `toml:"values" doc:"What."`
	} `toml:"http_headers" doc:"More."`
}

func TestReferenceDescribesEveryKey(t *testing.T) {
	var out bytes.Buffer
	table := described{Timeout: 5 * time.Minute, Retry: Duration(time.Second), Names: []string{"a"}}
	if err := Reference(&out, "## driver", &table); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimLeft(`
## driver

| key | type | default | meaning |
|---|---|---|---|
| 'url' | string |  | Where it is: a\|b. |
| 'timeout' | duration | '"5m"' | How long. |
| 'retry' | duration | '"1s"' | How long between. |
| 'names' | array of strings | '["a"]' | Who. |
| 'quick' | true or false | 'false' | Hurry. |
| 'basic_auth' | table |  | Who asks. |
| 'basic_auth.password_file' | path |  | The password. |
| 'http_headers' | table |  | More. |
| 'http_headers.NAME.values' | array of strings |  | What. |
`, "\n")
	if diff := cmp.Diff(strings.ReplaceAll(want, "'", "`"), out.String()); diff != "" {
		t.Errorf("reference (-want +got):\n%s", diff)
	}
}

func TestReferenceFindsWhatNobodyDescribed(t *testing.T) {
	err := Reference(&bytes.Buffer{}, "driver", struct {
		A string `toml:"a" doc:"x"`
		B struct {
			C string `toml:"c"`
		} `toml:"b"`
	}{})
	if err == nil || !strings.Contains(err.Error(), "b, b.c") {
		t.Errorf("error is %v", err)
	}
}
