package systemd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/readme"
)

func TestStatesBecomeInstances(t *testing.T) {
	const none = math.MaxUint64
	for _, test := range []struct {
		active, sub, job string
		want             string // "" if there is nothing
	}{
		{"active", "running", "", "running ready"},
		{"active", "exited", "", "running ready"},
		{"active", "running", "restart", "running ready"},
		{"active", "running", "stop", "running ready deleting"},
		{"reloading", "reload", "reload", "running ready"},
		{"activating", "start", "start", "pending"},
		{"activating", "auto-restart", "", "pending"},
		{"activating", "start", "stop", "pending deleting"},
		{"deactivating", "stop-sigterm", "stop", "running deleting"},
		{"deactivating", "stop-post", "", "running"},
		{"deactivating", "stop-sigterm", "restart", "running"},
		{"failed", "failed", "", "failed"},
		{"failed", "failed", "start", "pending"},
		{"failed", "failed-before-auto-restart", "", "pending"},
		{"inactive", "dead-before-auto-restart", "", "pending"},
		{"inactive", "dead", "start", "pending"},
		{"inactive", "dead", "", ""},
		{"inactive", "dead", "stop", ""},
	} {
		u := unit{name: "app@3.service", index: 3, active: test.active, sub: test.sub, job: test.job}
		u.properties = properties{entered: 2e6, left: 3e6, begun: 1e6, cpu: none, memory: none, memoryHigh: none}
		got := ""
		if u.exists() {
			got = describe(u.instance())
		}
		if got != test.want {
			t.Errorf("%s (%s) with job %q is %q, want %q", test.active, test.sub, test.job, got, test.want)
		}
		if u.exists() && u.wanted() == strings.Contains(got, "deleting") {
			t.Errorf("%s (%s) with job %q is wanted: %v", test.active, test.sub, test.job, u.wanted())
		}
	}
}

func describe(i targets.Instance) string {
	text := map[algorithm.Phase]string{
		algorithm.PhaseRunning: "running", algorithm.PhasePending: "pending", algorithm.PhaseFailed: "failed",
	}[i.Phase]
	if i.Ready == algorithm.Ready {
		text += " ready"
	}
	if i.Deleting {
		text += " deleting"
	}
	return text
}

func TestTimesAreThoseOfTheProcessAndOfTheLastChangeOfReadiness(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	for name, test := range map[string]struct {
		active     string
		p          properties
		start, end time.Time
	}{
		"ready":                 {"active", properties{begun: 1e6, entered: 2e6}, at(1), at(2)},
		"was ready once before": {"activating", properties{begun: 5e6, entered: 2e6, left: 4e6}, at(5), at(4)},
		"never ready":           {"activating", properties{begun: 5e6}, at(5), time.Time{}},
		"without a process":     {"active", properties{entered: 2e6}, at(2), at(2)},
	} {
		u := unit{name: "app@1.service", index: 1, active: test.active, properties: test.p}
		if got := u.instance(); !got.Started.Equal(test.start) || !got.ReadyTransition.Equal(test.end) {
			t.Errorf("%s: started %v, readiness changed %v", name, got.Started, got.ReadyTransition)
		}
	}
}

func TestRequestsAreTheLimits(t *testing.T) {
	const none = math.MaxUint64
	cpu := func(v algorithm.Quantity) algorithm.Request { return algorithm.Request{Resource: "cpu", Value: v} }
	memory := func(v algorithm.Quantity) algorithm.Request {
		return algorithm.Request{Resource: "memory", Value: v}
	}
	for name, test := range map[string]struct {
		p    properties
		want []algorithm.Request
	}{
		"none":            {properties{cpu: none, memoryHigh: none, memory: none}, nil},
		"all":             {properties{cpu: 1_500_000, memoryHigh: 10, memory: 20}, []algorithm.Request{cpu(1500), memory(10_000)}},
		"the limit alone": {properties{cpu: 1, memoryHigh: none, memory: 20}, []algorithm.Request{cpu(1), memory(20_000)}},
		"too much":        {properties{cpu: none, memoryHigh: math.MaxInt64, memory: none}, nil},
	} {
		if diff := cmp.Diff(test.want, test.p.requests()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestProcessIDThatLooksLikeTheNumberIsNoName(t *testing.T) {
	u := unit{name: "app@7.service", index: 7, properties: properties{pid: 7}}
	if diff := cmp.Diff([]string{"app@7.service", "app@7", "7"}, u.identifiers()); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyPlainNumbersAreInstances(t *testing.T) {
	for name, want := range map[string]int32{
		"app@1.service": 1, "app@0.service": 0, "app@2147483647.service": math.MaxInt32,
		"app@01.service": -1, "app@+1.service": -1, "app@-1.service": -1, "app@.service": -1, "app@1": -1,
		"app@2147483648.service": -1, "app@blue.service": -1, "apps@1.service": -1, "app@1.socket": -1,
	} {
		got, ok := indexOf("app@.service", name)
		if ok != (want >= 0) || ok && (got != want || instanceName("app@.service", got) != name) {
			t.Errorf("%q is number %d, %v", name, got, ok)
		}
	}
}

func FuzzNumbersAreRead(f *testing.F) {
	f.Add("app@1.service")
	f.Add("app@00.service")
	f.Fuzz(func(t *testing.T, name string) {
		if i, ok := indexOf("app@.service", name); ok && instanceName("app@.service", i) != name {
			t.Errorf("%q is number %d", name, i)
		}
	})
}

func numbered(indexes ...int32) []unit {
	units := make([]unit, len(indexes))
	for i, index := range indexes {
		units[i] = unit{index: index, active: "active"}
	}
	return units
}

func TestVersionNamesTheUnits(t *testing.T) {
	for want, units := range map[string][]unit{
		"": nil, "3": numbered(3), "1-2": numbered(1, 2), "1-3,7": numbered(1, 2, 3, 7), "1,3,5-6": numbered(1, 3, 5, 6),
	} {
		if got := versionOf(units); got != want {
			t.Errorf("version is %q, want %q", got, want)
		}
	}
}

func TestNumbersOfUnitsThatStillStopAreNotFree(t *testing.T) {
	units := numbered(1, 2, 4)
	units[1].active, units[1].job = "deactivating", "stop"
	units = append(units, unit{index: 3, active: "inactive"})
	if got := free(units, 1, 6, 2); !slices.Equal(got, []int32{3, 5}) {
		t.Errorf("free are %v", got)
	}
	target := &target{connection: &connection{bus: newBus("/b", time.Second)}, name: "app@.service", first: 1, last: 4}
	_, err := target.steps(units, wantedOf(units), 4)
	wantClass(t, err, targets.Busy)
	_, err = target.steps(units, wantedOf(units), 5)
	wantClass(t, err, targets.OutOfRange)
}

func TestJobsOfOthersBlock(t *testing.T) {
	for _, test := range []struct {
		active, job string
		up, down    bool
	}{
		{"active", "", false, false},
		{"activating", "start", false, false},
		{"deactivating", "stop", false, false},
		{"inactive", "start", true, false},
		{"active", "stop", false, true},
		{"active", "restart", true, true},
		{"deactivating", "restart", true, true},
		{"reloading", "reload", true, true},
	} {
		var up, down bool
		for _, b := range (&target{}).blocks([]unit{{name: "app@1.service", active: test.active, job: test.job}}) {
			up, down = up || b.Up, down || b.Down
		}
		if up != test.up || down != test.down {
			t.Errorf("%s with job %q blocks up %v, down %v", test.active, test.job, up, down)
		}
	}
}

func TestAnswersHaveTheirClass(t *testing.T) {
	answer := func(name string) error { return dbus.Error{Name: name, Body: []any{"no\nway"}} }
	for _, test := range []struct {
		err        error
		read, send targets.Class
	}{
		{answer("org.freedesktop.systemd1.NoSuchUnit"), targets.NotFound, targets.NotFound},
		{answer("org.freedesktop.systemd1.UnitMasked"), targets.NotFound, targets.NotFound},
		{answer("org.freedesktop.systemd1.OnlyByDependency"), targets.Invalid, targets.Invalid},
		{answer("org.freedesktop.systemd1.TransactionIsDestructive"), targets.Busy, targets.Busy},
		{answer("org.freedesktop.DBus.Error.AccessDenied"), targets.Denied, targets.Denied},
		{answer("org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"), targets.Denied, targets.Denied},
		{answer("org.freedesktop.DBus.Error.LimitsExceeded"), targets.Throttled, targets.Throttled},
		{answer("org.freedesktop.DBus.Error.ServiceUnknown"), targets.Unavailable, targets.Unavailable},
		{answer("org.freedesktop.DBus.Error.NoReply"), targets.Unavailable, targets.Uncertain},
		{answer("org.freedesktop.systemd1.Unknown"), targets.Unavailable, targets.Unavailable},
		{&net.OpError{Op: "dial", Err: syscall.EACCES}, targets.Denied, targets.Uncertain},
		{context.DeadlineExceeded, targets.Unavailable, targets.Uncertain},
		{io.EOF, targets.Unavailable, targets.Uncertain},
	} {
		tg := &target{connection: &connection{bus: newBus("/run/bus", time.Second)}, name: "app@.service"}
		for sent, want := range map[bool]targets.Class{false: test.read, true: test.send} {
			err := tg.writeError(sent, test.err)
			if got := targets.ClassOf(err, true); got != want {
				t.Errorf("%v, sent %v: class %v, want %v", test.err, sent, got, want)
			}
			if strings.Contains(err.Error(), "\n") || !errors.Is(err, test.err) && !errors.As(err, new(dbus.Error)) {
				t.Errorf("the error is %q", err)
			}
		}
	}
}

func TestDeniedSaysWhatIsNeeded(t *testing.T) {
	tg := &target{connection: &connection{bus: newBus("/run/bus", time.Second)}, name: "app@.service"}
	err := tg.writeError(true, dbus.Error{Name: "org.freedesktop.DBus.Error.AccessDenied", Body: []any{"Permission denied"}})
	want := `cannot scale "app@.service" at "/run/bus": Permission denied (` + deniedHint + `)`
	if err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
}

func TestWithoutABusNothingIsSent(t *testing.T) {
	bound, err := connect(t, table("address", "unix:path="+t.TempDir()+"/bus")).Bind(table("unit", "app@.service"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = bound.Status(t.Context())
	wantClass(t, err, targets.Unavailable)
	wantClass(t, bound.SetReplicas(t.Context(), targets.Status{}, 1), targets.Unavailable)
}

func TestAllMistakesInTheTablesAreReported(t *testing.T) {
	for _, test := range []struct {
		of, unit []any
		want     []string // beginnings
	}{
		{of: []any{"manager", "root"}, want: []string{`manager: must be "system" or "user", is "root"`}},
		{of: []any{"address", "/run/bus"}, want: []string{"address: must be like"}},
		{of: []any{"address", "tcp:host=a,port=1"}, want: []string{"address: must be like"}},
		{of: []any{"address", "unix:path=bus", "timeout", "0s"}, want: []string{"address: must be like", "timeout: must be > 0s"}},
		{of: []any{"unit", "a"}, want: []string{"unit: unknown key"}},
		{unit: []any{}, want: []string{"unit: must be the name of a template"}},
		{unit: []any{"unit", "app.service"}, want: []string{"unit: must be the name of a template"}},
		{unit: []any{"unit", "app@1.service"}, want: []string{"unit: must be the name of a template"}},
		{unit: []any{"unit", "a*@.service"}, want: []string{"unit: must be the name of a template"}},
		{unit: []any{"unit", "app@.socket"}, want: []string{"unit: must be a service"}},
		{unit: []any{"unit", "app@", "first_index", int64(-1)}, want: []string{"first_index: must be >= 0"}},
		{unit: []any{"unit", "app@", "first_index", int64(5), "max_index", int64(4)}, want: []string{"max_index: must be >= first_index"}},
	} {
		connection, err := Driver().Open(targets.Environment{}, table(test.of...))
		if err == nil {
			_, err = connection.Bind(table(test.unit...))
		}
		problems := options.Split(err)
		if len(problems) != len(test.want) {
			t.Errorf("%v %v: problems are %q", test.of, test.unit, problems)
			continue
		}
		for i, problem := range problems {
			if !strings.HasPrefix(problem.Error(), test.want[i]) {
				t.Errorf("%v %v: problem is %q, want %q…", test.of, test.unit, problem, test.want[i])
			}
		}
	}
}

func TestTheEnvironmentSaysWhereTheBusIs(t *testing.T) {
	for _, test := range []struct{ manager, system, session, runtime, want string }{
		{"system", "", "", "", "/run/dbus/system_bus_socket"},
		{"system", "unix:path=/tmp/a%20b,guid=1", "unix:path=/x/y", "", "/tmp/a b"},
		{"user", "unix:path=/x/y", "tcp:host=h;unix:abstract=/n,guid=2", "", "@/n"},
		{"user", "", "", "/tmp", "/tmp/bus"},
	} {
		t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", test.system)
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", test.session)
		t.Setenv("XDG_RUNTIME_DIR", test.runtime)
		set := connectionDefaults()
		set.Manager = test.manager
		got, err := set.address()
		if err != nil || got != test.want && got != realPath(test.want) {
			t.Errorf("%+v: address is %q, %v", test, got, err)
		}
	}
}

func TestREADMEDescribesTheOptionsAsTheyAre(t *testing.T) {
	readme.Options(t,
		"In `[targets.NAME]`:", connectionDefaults(),
		"In the `target` of a workload:", bindingDefaults())
}

func TestREADMEExampleCanBeBound(t *testing.T) {
	var file struct {
		Targets  map[string]map[string]any `toml:"targets"`
		Workload []struct {
			Target map[string]any `toml:"target"`
		} `toml:"workload"`
	}
	if _, err := toml.Decode(readme.Block(t, "README.md", "toml", "[targets"), &file); err != nil || len(file.Workload) != 1 {
		t.Fatalf("the example has %d workloads: %v", len(file.Workload), err)
	}
	via, binding := file.Targets["units"], file.Workload[0].Target
	delete(via, "driver")
	delete(binding, "via")
	if _, err := connect(t, options.NewTable("/", via)).Bind(options.NewTable("/", binding)); err != nil {
		t.Errorf("cannot bind the example: %v", err)
	}
}

func TestUnitPathsAreEscaped(t *testing.T) {
	for name, want := range map[string]string{"app@1.service": "app_401_2eservice", "0a@1.service": "_30a_401_2eservice"} {
		if got := unitPath(name); string(got) != fmt.Sprintf("%s/unit/%s", managerPath, want) {
			t.Errorf("the object of %q is %s", name, got)
		}
	}
}
