package options

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "15s": 15 * time.Second, "1.5h": 90 * time.Minute, "1h30m": 90 * time.Minute,
		"100ms": 100 * time.Millisecond, "1d": day, "1w": 7 * day, "1y": 365 * day,
		"1y2w3d4h5m6s7ms": 382*day + 4*time.Hour + 5*time.Minute + 6*time.Second + 7*time.Millisecond,
		"-1d":             -day, "-5m": -5 * time.Minute, "+2d1h": 2*day + time.Hour, "292y": 292 * 365 * day,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "15", "d", "1d2w", "1.5d", "5 m", "--5m", "1d-5m", "-", "nan", "1e3s", "293y", "9999y",
		"292y365d", "106751d23h47m17s", "1s\n",
	} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	f.Add("1y2w3d4h5m6s7ms", int64(90*time.Second))
	f.Fuzz(func(t *testing.T, text string, n int64) {
		if _, err := ParseDuration(text); err == nil && text == "" {
			t.Error("nothing is no duration")
		}
		if n == math.MinInt64 {
			t.Skip("has no opposite")
		}
		d := Duration(n)
		if back, err := ParseDuration(d.String()); err != nil || Duration(back) != d {
			t.Errorf("%d is written as %s and read as %v, %v", n, d, back, err)
		}
	})
}

func TestDurationsAreWrittenShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 5 * time.Minute: "5m", time.Hour: "1h", 90 * time.Second: "1m30s",
		time.Hour + time.Second: "1h0m1s", 10 * time.Second: "10s", -10 * time.Minute: "-10m",
		1500 * time.Millisecond: "1.5s",
	} {
		text, err := json.Marshal(Duration(d))
		if err != nil || string(text) != `"`+want+`"` {
			t.Errorf("%v is written as %s, %v", d, text, err)
		}
		var back Duration
		if err := json.Unmarshal(text, &back); err != nil || back.Std() != d {
			t.Errorf("%s is read as %v, %v", text, back, err)
		}
	}
}
