package algorithm_test

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hpad/hpad/algorithm"
)

func TestQuantityIsReadInThousandths(t *testing.T) {
	tests := []struct {
		text string
		want algorithm.Quantity
	}{
		{"0", 0},
		{"-0", 0},
		{"3", 3000},
		{"+3", 3000},
		{"250m", 250},
		{"1.5", 1500},
		{".5", 500},
		{"5.", 5000},
		{"007", 7000},
		{"2k", 2_000_000},
		{"1M", 1_000_000_000},
		{"1Ki", 1_024_000},
		{"512Mi", 536_870_912_000},
		{"1.5Gi", 1_610_612_736_000},
		{"2e3", 2_000_000},
		{"2E3", 2_000_000},
		{"25e-2", 250},
		{"1E", 9_223_372_036_854_775_807},
		{"-1E", -9_223_372_036_854_775_808},
		{"7Pi", 7_881_299_347_898_368_000},
		// What is finer is rounded up, which for negative numbers is towards 0.
		{"0.0001", 1},
		{"1n", 1},
		{"1u", 1},
		{"1.0001", 1001},
		{"-0.0001", 0},
		{"-1.0001", -1000},
		// What is too large saturates.
		{"9e99", math.MaxInt64},
		{"-9e99", math.MinInt64},
		{"1e999999999999", math.MaxInt64},
		{"1e-999999999999", 1},
		{"9223372036854775.807", math.MaxInt64},
		{"9223372036854775.808", math.MaxInt64},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got, err := algorithm.ParseQuantity(test.text)
			if err != nil || got != test.want {
				t.Errorf("got %d, %v, want %d", int64(got), err, int64(test.want))
			}
		})
	}
}

func TestWhatIsNoQuantityIsNamed(t *testing.T) {
	for _, text := range []string{
		"", "m", ".", "-", "+-1", "1.2.3", "1 ", " 1", "1mm", "1mi", "1K", "0x10", "1e", "1e1.5", "1e+", "NaN", "Inf",
		"1_000", "1,5", "１",
	} {
		if q, err := algorithm.ParseQuantity(text); err == nil || !strings.Contains(err.Error(), strconv.Quote(text)) {
			t.Errorf("%q is read as %v, with error %v", text, q, err)
		}
	}
}

func TestToleranceIsTheFloatTheHPAMakesOfIt(t *testing.T) {
	var (
		thousandth = 0.001
		millionth  = 1e-6
		billionth  = 1e-9
	)
	tests := []struct {
		text string
		want float64
	}{
		{"0", 0},
		{"1", 1},
		{"0.07", 0.07},
		{"0.1", 0.1},
		{"70m", 0.07},
		{"0.7", 700 * thousandth},
		{"0.35", 350 * thousandth},
		{"0.0005", 500 * millionth},
		{"0.0000005", 500 * billionth},
		{"0.0000000001", 1 * billionth},
		{"2", 2},
	}
	for _, test := range tests {
		got, err := algorithm.ParseTolerance(test.text)
		if err != nil || got != test.want {
			t.Errorf("%q is %v, %v, want %v", test.text, got, err, test.want)
		}
	}
	if got, _ := algorithm.ParseTolerance("0.7"); got == 0.7 {
		t.Error("0.7 is read as 0.7, which the HPA does not")
	}
}

func TestQuantityIsWrittenAsItIsRead(t *testing.T) {
	for q, want := range map[algorithm.Quantity]string{
		0: "0", 250: "250m", 3000: "3", -1500: "-1500m", math.MaxInt64: "9223372036854775807m",
	} {
		if got := q.String(); got != want {
			t.Errorf("%d is written %q, want %q", int64(q), got, want)
		}
	}
}

var notation = regexp.MustCompile(`^([+-]?)(\d*)\.?(\d*)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?$`)

// FuzzParseQuantity compares with exact fractions, and proves that what is written is read again.
func FuzzParseQuantity(f *testing.F) {
	for _, text := range []string{"1", "-250m", "1.5Gi", "3e-5", "0.0001", "9E", "12345678901234567890", "1e999", "x", ".", "1Ei"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := algorithm.ParseQuantity(text)
		if err != nil {
			return
		}
		if want, ok := exactly(text); ok && int64(q) != want {
			t.Errorf("%q is %d thousandths, want %d", text, int64(q), want)
		}
		again, err := algorithm.ParseQuantity(q.String())
		if err != nil || again != q {
			t.Errorf("%q is %v, which is read as %v, %v", text, q, again, err)
		}
	})
}

// exactly is a quantity in thousandths by rational arithmetic.
func exactly(text string) (int64, bool) {
	parts := notation.FindStringSubmatch(text)
	if parts == nil || len(text) > 60 {
		return 0, false
	}
	mantissa := parts[1] + "0" + parts[2]
	if parts[3] != "" {
		mantissa += "." + parts[3]
	}
	n, ok := new(big.Rat).SetString(mantissa)
	if !ok {
		return 0, false
	}
	n.Mul(n, suffixOf(parts[4], parts[5])).Mul(n, big.NewRat(1000, 1))
	whole, rest := new(big.Int).QuoRem(n.Num(), n.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	switch {
	case whole.IsInt64():
		return whole.Int64(), true
	case whole.Sign() < 0:
		return math.MinInt64, true
	}
	return math.MaxInt64, true
}

func suffixOf(suffix, exponent string) *big.Rat {
	if exponent != "" {
		n, _ := new(big.Rat).SetString("1e" + exponent)
		return n
	}
	if binary, ok := strings.CutSuffix(suffix, "i"); ok {
		power := uint(strings.Index("KMGTPE", binary)+1) * 10
		return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), power))
	}
	n, _ := new(big.Rat).SetString("1e" + map[string]string{
		"n": "-9", "u": "-6", "m": "-3", "": "0", "k": "3", "M": "6", "G": "9", "T": "12", "P": "15", "E": "18",
	}[suffix])
	return n
}

// FuzzParseTolerance holds that a tolerance is near the number that was written.
func FuzzParseTolerance(f *testing.F) {
	for _, text := range []string{"0.1", "0.35", "5", "1e-9", "123.456", "-0.2", "x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := algorithm.ParseTolerance(text)
		if err != nil {
			return
		}
		if math.IsNaN(got) || math.IsInf(got, 0) {
			t.Fatalf("%q is %v", text, got)
		}
		want, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(want) > 1e9 {
			return
		}
		if math.Abs(got-want) > 2e-9+1e-12*math.Abs(want) {
			t.Errorf("%q is %v", text, got)
		}
	})
}
