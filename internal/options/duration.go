package options

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

// Duration is a length of time, written as a string such as "15s" (see ParseDuration).
type Duration time.Duration

// Std returns d as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String is the shortest form that ParseDuration reads: "5m", not "5m0s".
func (d Duration) String() string { return formatDuration(time.Duration(d)) }

// MarshalText writes d as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	return d.UnmarshalTOML(string(text))
}

// UnmarshalTOML reads a string.
func (d *Duration) UnmarshalTOML(x any) error {
	parsed, err := durationOf(x)
	if err == nil {
		*d = Duration(parsed)
	}
	return err
}

func durationOf(x any) (time.Duration, error) {
	text, ok := x.(string)
	if !ok {
		return 0, fmt.Errorf(`must be a duration such as "15s", is %s`, Show(x))
	}
	d, err := ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf(`must be a duration such as "15s" or "1h30m", is %s`, Show(x))
	}
	return d, nil
}

var durationForm = regexp.MustCompile(`^([-+]?)(?:(\d{1,4})y)?(?:(\d{1,5})w)?(?:(\d{1,6})d)?(.*)$`)

// ParseDuration reads what time.ParseDuration and Prometheus read: years of 365 days ("y"), weeks
// ("w") and days ("d"), each a whole number and in this order, before hours and smaller units.
func ParseDuration(text string) (time.Duration, error) {
	parts := durationForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("not a duration: %q", text)
	}
	const day = 24 * time.Hour
	var days time.Duration
	for i, unit := range []time.Duration{365, 7, 1} {
		n, _ := strconv.Atoi(parts[i+2])
		days += time.Duration(n) * unit
	}
	if days > math.MaxInt64/day-1 {
		return 0, errors.New("too long")
	}
	if parts[5] == "" && parts[2]+parts[3]+parts[4] != "" {
		parts[5] = "0"
	}
	if len(parts[5]) > 0 && (parts[5][0] == '-' || parts[5][0] == '+') {
		return 0, fmt.Errorf("not a duration: %q", text)
	}
	rest, err := time.ParseDuration(parts[5])
	if err != nil {
		return 0, fmt.Errorf("not a duration: %q", text)
	}
	total := days*day + rest
	if total < rest {
		return 0, errors.New("too long")
	}
	if parts[1] == "-" {
		return -total, nil
	}
	return total, nil
}

var zeroUnits = regexp.MustCompile(`([a-zµ])(?:0[a-z])+$`)

func formatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	return zeroUnits.ReplaceAllString(d.String(), "$1")
}
