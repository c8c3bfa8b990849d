package algorithm

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// decimal is a number as it was written: digits × 10^exponent.
type decimal struct {
	negative bool
	digits   []byte // ASCII, most significant first, without leading zeros; empty for 0
	exponent int
}

var errNotDecimal = errors.New(`want a number with an optional suffix such as "250m", "1.5" or "512Mi"`)

// maxExponent is far beyond what an int64 can hold in any unit, and far from overflowing an int.
const maxExponent = 1 << 20

func parseDecimal(s string) (decimal, error) {
	var d decimal
	rest := s
	switch {
	case strings.HasPrefix(rest, "-"):
		d.negative, rest = true, rest[1:]
	case strings.HasPrefix(rest, "+"):
		rest = rest[1:]
	}
	whole, rest := takeDigits(rest)
	fraction := ""
	if strings.HasPrefix(rest, ".") {
		fraction, rest = takeDigits(rest[1:])
	}
	if whole == "" && fraction == "" {
		return d, errNotDecimal
	}
	d.digits = []byte(strings.TrimLeft(whole+fraction, "0"))
	d.exponent = -len(fraction)
	if err := d.suffix(rest); err != nil {
		return d, err
	}
	return d, nil
}

func takeDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// suffix applies what follows the digits: an SI or binary suffix, or an exponent.
func (d *decimal) suffix(s string) error {
	if e := strings.Index("numkMGTPE", s); len(s) <= 1 && e >= 0 {
		if s != "" {
			d.exponent += [...]int{-9, -6, -3, 3, 6, 9, 12, 15, 18}[e]
		}
		return nil
	}
	if e := strings.Index("KMGTPE", s[:1]); len(s) == 2 && s[1] == 'i' && e >= 0 {
		for range e + 1 {
			d.times1024()
		}
		return nil
	}
	if s[0] != 'e' && s[0] != 'E' {
		return errNotDecimal
	}
	exponent, err := strconv.ParseInt(s[1:], 10, 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errNotDecimal
	}
	d.exponent += int(max(-maxExponent, min(exponent, maxExponent)))
	return nil
}

func (d *decimal) times1024() {
	carry := 0
	for i := len(d.digits) - 1; i >= 0; i-- {
		carry += int(d.digits[i]-'0') * 1024
		d.digits[i] = byte('0' + carry%10)
		carry /= 10
	}
	if carry > 0 {
		d.digits = append([]byte(strconv.Itoa(carry)), d.digits...)
	}
}

// scaled returns the number in units of 10^-places, rounded up and saturated, and whether that is
// the very number.
func (d *decimal) scaled(places int) (n int64, exact bool) {
	kept, exact := d.digits, true
	switch shift := d.exponent + places; {
	case len(kept) == 0:
		return 0, true
	case len(kept)+shift > 19:
		return d.limit(), false
	case shift >= 0:
		kept = append(kept[:len(kept):len(kept)], strings.Repeat("0", shift)...)
	default:
		keep := max(0, len(kept)+shift)
		exact = strings.Trim(string(kept[keep:]), "0") == ""
		kept = kept[:keep]
	}
	var u uint64
	if len(kept) > 0 {
		u, _ = strconv.ParseUint(string(kept), 10, 64) // 19 digits always fit
	}
	if !exact && !d.negative {
		u++
	}
	if u > math.MaxInt64 {
		return d.limit(), false
	}
	if d.negative {
		return -int64(u), exact
	}
	return int64(u), exact
}

func (d *decimal) limit() int64 {
	if d.negative {
		return math.MinInt64
	}
	return math.MaxInt64
}
