package daemon

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
)

// filled is a saved without a zero field, so that a field that is not written is missed.
func filled() saved {
	s := saved{target: "t", at: time.Unix(1, 2), intent: &intent{3, -4, time.Unix(5, 6)}}
	next := int64(100)
	fill(reflect.ValueOf(&s.state).Elem(), &next)
	return s
}

func fill(v reflect.Value, next *int64) {
	*next++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(*next)
	case reflect.String:
		v.SetString(time.Unix(*next, 0).UTC().String())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(*next, 7)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	default:
		panic("nothing fills a " + v.Kind().String())
	}
}

var compareSaved = cmp.AllowUnexported(saved{}, intent{})

func TestRecordHoldsEverything(t *testing.T) {
	for name, want := range map[string]saved{"filled": filled(), "empty": {}} {
		got, err := decode(want.encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, compareSaved); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestEveryFlippedBitAndEveryCutIsFound(t *testing.T) {
	s := filled()
	record := s.encode()
	for i := range record {
		if _, err := decode(record[:i]); err == nil {
			t.Fatalf("the record cut to %d bytes is taken for whole", i)
		}
		for bit := range 8 {
			record[i] ^= 1 << bit
			if _, err := decode(record); err == nil {
				t.Fatalf("bit %d of byte %d flipped is not found", bit, i)
			}
			record[i] ^= 1 << bit
		}
	}
}

// FuzzRecord gives decode records whose checksum is right.
func FuzzRecord(f *testing.F) {
	s := filled()
	record := s.encode()
	f.Add(record[:len(record)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		record := recordWriter(append([]byte{recordFormat}, body...))
		sum := checksum(record)
		s, err := decode(append(record, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)))
		if err != nil {
			return
		}
		again, err := decode(s.encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again, compareSaved); diff != "" {
			t.Errorf("-decoded +again:\n%s", diff)
		}
	})
}

// typical is what a workload leaves that uses the default window and period.
func typical() saved {
	s := saved{target: "docker-swarm:unix:///run/docker.sock/shop_web", at: time.Now()}
	s.state.Memory.Begun = true
	for i := range 21 {
		s.state.Memory.Recommendations = append(s.state.Memory.Recommendations,
			algorithm.Recommendation{Replicas: int32(i), Time: algorithm.InstantOf(time.Now())})
	}
	for i := range s.state.Status.Conditions {
		s.state.Status.Conditions[i] = algorithm.Condition{
			Status: algorithm.ConditionTrue, Reason: algorithm.ReasonSucceededGetScale, Since: time.Now(),
			Message: "the HPA controller was able to get the target's current scale",
		}
	}
	return s
}

func BenchmarkEncode(b *testing.B) {
	s := typical()
	b.ReportAllocs()
	b.ReportMetric(float64(len(s.encode())), "bytes/record")
	for b.Loop() {
		s.encode()
	}
}
