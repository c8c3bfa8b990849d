package docker

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/targettest"
)

// fakeEngine answers as an engine does where a real one cannot be brought to. It is strict: a
// request that the driver has no business to make is answered with 418.
type fakeEngine struct {
	version string            // the text of GET /version
	members map[string]string // id to the text of GET /containers/ID/json
	create  func(http.ResponseWriter)

	mu      sync.Mutex
	created []string // names
}

const (
	dockerVersion = `{"Components":[{"Name":"Engine"}]}`
	podmanVersion = `{"Components":[{"Name":"Podman Engine"},{"Name":"Conmon"}]}`
	fakeID        = "abababababababababababababababababababababababababababababababab"
)

func fakeContainer(labels, more string) string {
	return `{"Id":"` + fakeID + `","Name":"/shop-web-1","Created":"2026-01-02T03:04:05Z","Image":"sha256:1",
"State":{"Status":"running","Running":true,"StartedAt":"2026-01-02T03:04:05Z"` + more + `},
"Config":{"Image":"web","Labels":` + labels + `,"Later":1.10},"HostConfig":{"NetworkMode":"default","New":{"x":[1e400]}},"NetworkSettings":{}}`
}

const (
	composeLabels = `{"com.docker.compose.project":"shop","com.docker.compose.service":"web","com.docker.compose.oneoff":"False","com.docker.compose.container-number":"1"}`
	plainLabels   = `{"role":"web"}`
)

func (f *fakeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Api-Version", "1.41")
	w.Header().Set("Content-Type", "application/json")
	path := strings.TrimPrefix(r.URL.Path, "/v1.41")
	id, inspects := strings.CutPrefix(strings.TrimSuffix(path, "/json"), "/containers/")
	switch {
	case path == "/_ping":
	case path == "/version":
		_, _ = io.WriteString(w, f.version)
	case path == "/containers/json":
		_, _ = io.WriteString(w, f.list())
	case path == "/images/web/json":
		_, _ = io.WriteString(w, `{"Id":"sha256:1"}`)
	case inspects && r.Method == http.MethodGet && f.members[id] != "":
		_, _ = io.WriteString(w, f.members[id])
	case inspects && r.Method == http.MethodGet:
		w.WriteHeader(http.StatusNotFound)
	case path == "/containers/create" && r.Method == http.MethodPost:
		f.mu.Lock()
		f.created = append(f.created, r.URL.Query().Get("name"))
		f.mu.Unlock()
		f.create(w)
	default:
		http.Error(w, fmt.Sprintf(`{"message":"unexpected %s %s"}`, r.Method, r.URL), http.StatusTeapot)
	}
}

func (f *fakeEngine) list() string {
	var list []map[string]any
	for _, id := range slices.Sorted(maps.Keys(f.members)) {
		var seen struct {
			Config struct{ Labels map[string]string }
		}
		_ = json.Unmarshal([]byte(f.members[id]), &seen)
		list = append(list, map[string]any{"Id": id, "Labels": seen.Config.Labels})
	}
	text, _ := json.Marshal(list)
	return string(text)
}

func (f *fakeEngine) target(t *testing.T, pairs ...any) *target {
	t.Helper()
	c := connect(t, "tcp://"+targettest.NewProxyOf(t, f).Address())
	t.Cleanup(func() { _ = c.Close() })
	return bind(t, c, table(pairs...))
}

func TestAnswersToACreationAreClassed(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   targets.Class
	}{
		{500, `{"message":"no space left on device"}`, targets.Capacity},
		{500, `{"message":"something"}`, targets.Uncertain},
		{502, `<html>bad gateway</html>`, targets.Uncertain},
		{404, `{"message":"No such image: web"}`, targets.Unavailable},
		{403, `{"message":"no"}`, targets.Denied},
		{401, ``, targets.Denied},
		{429, ``, targets.Throttled},
		{400, `{"message":"invalid"}`, targets.Invalid},
		{201, `{}`, targets.Uncertain},
	} {
		f := &fakeEngine{version: dockerVersion, members: map[string]string{fakeID: fakeContainer(composeLabels, "")}}
		f.create = func(w http.ResponseWriter) {
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		}
		target := f.target(t, "project", "shop", "service", "web")
		err := target.SetReplicas(t.Context(), mustStatus(t, target), 2)
		if err == nil || targets.ClassOf(err, true) != test.want || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d %s: the error is %v, want class %v", test.status, test.body, err, test.want)
		}
		if status := mustStatus(t, target); status.SpecReplicas != 1 {
			t.Errorf("%d: the count is %d", test.status, status.SpecReplicas)
		}
	}
}

func TestNameThatIsReservedAndNotYetSeenIsTriedAgain(t *testing.T) {
	for kind, version := range map[int]string{http.StatusConflict: dockerVersion, http.StatusInternalServerError: podmanVersion} {
		f := &fakeEngine{version: version, members: map[string]string{fakeID: fakeContainer(plainLabels, "")}}
		tries := 0
		f.create = func(w http.ResponseWriter) {
			if tries++; tries < 3 {
				w.WriteHeader(kind)
				_, _ = io.WriteString(w, `{"message":"the container name \"x\" is already in use by 1"}`)
				return
			}
			w.WriteHeader(http.StatusForbidden)
		}
		target := f.target(t, "label", "role=web")
		wantClass(t, target.SetReplicas(t.Context(), mustStatus(t, target), 2), targets.Denied)
		if want := []string{"shop-web-1-hpad-1", "shop-web-1-hpad-1", "shop-web-1-hpad-1"}; !slices.Equal(f.created, want) {
			t.Errorf("%d: the names tried are %q", kind, f.created)
		}
	}
}

func TestPodmanHasPlainContainersOnly(t *testing.T) {
	f := &fakeEngine{version: podmanVersion, members: map[string]string{fakeID: fakeContainer(composeLabels, "")}}
	_, err := f.target(t, "project", "shop", "service", "web").Status(t.Context())
	wantClass(t, err, targets.Invalid)
	if !strings.Contains(fmt.Sprint(err), "the engine is Podman") {
		t.Errorf("the error is %q", err)
	}
}

func TestCheckThatPodmanNeverRunsIsWarnedOf(t *testing.T) {
	for version, want := range map[string]int{dockerVersion: 0, podmanVersion: 1} {
		f := &fakeEngine{version: version, members: map[string]string{
			fakeID: fakeContainer(plainLabels, `,"Health":{"Status":"starting","Log":[]}`)}}
		status := mustStatus(t, f.target(t, "label", "role=web"))
		if len(status.Warnings) != want || ready(status) != 0 {
			t.Errorf("the status is %+v", status)
		}
	}
}

func TestOnlyATargetThatHasChangedSomethingRepairs(t *testing.T) {
	for acts, want := range map[bool][]string{false: nil, true: {"shop-web-2"}} {
		f := &fakeEngine{version: dockerVersion, members: map[string]string{fakeID: fakeContainer(composeLabels, "")}}
		f.create = func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }
		target := f.target(t, "project", "shop", "service", "web")
		target.ledger.kept["2"] = time.Now().Add(-time.Hour)
		target.ledger.acts = acts
		if status := mustStatus(t, target); status.SpecReplicas != 2 || status.StatusReplicas != 1 {
			t.Errorf("the status is %+v", status)
		}
		target.connection.work.wg.Wait()
		if !slices.Equal(f.created, want) {
			t.Errorf("acts %v: created %q, want %q", acts, f.created, want)
		}
	}
}

func TestTargetThatIsGoneIsForgotten(t *testing.T) {
	f := &fakeEngine{version: dockerVersion, members: map[string]string{}}
	target := f.target(t, "project", "shop", "service", "web")
	target.ledger.kept["2"] = time.Now().Add(-time.Hour)
	_, err := target.Status(t.Context())
	wantClass(t, err, targets.NotFound)
	f.members[fakeID] = fakeContainer(composeLabels, "")
	if status := mustStatus(t, target); status.SpecReplicas != 1 {
		t.Errorf("the count is %d once it is back", status.SpecReplicas)
	}
}

func TestGarbledContainerIsAnError(t *testing.T) {
	for _, text := range []string{`{}`, `null`, `{"Id":"1"}`, `{"Id":"` + fakeID + `","State":{}}`, "["} {
		f := &fakeEngine{version: dockerVersion, members: map[string]string{fakeID: fakeContainer(plainLabels, "")}}
		target := f.target(t, "label", "role=web")
		list := f.list()
		f.members[fakeID] = text
		if _, err := target.connection.inspectOne(t.Context(), fakeID); err == nil {
			t.Errorf("%s after %s has no error", text, list)
		}
	}
}

func TestWhatIsNotKnownIsClonedToo(t *testing.T) {
	m := &member{id: fakeID, name: "shop-web-1", raw: []byte(fakeContainer(plainLabels, ""))}
	b, err := newBlueprint(m, "web")
	if err != nil {
		t.Fatal(err)
	}
	body, err := b.body("x", nil)
	if err != nil || !strings.Contains(string(body), `"Later":1.10`) || !strings.Contains(string(body), `"New":{"x":[1e400]}`) {
		t.Errorf("the request is %s, %v", body, err)
	}
}

func FuzzBlueprintNeedsNoSenseInTheTemplate(f *testing.F) {
	f.Add([]byte(fakeContainer(composeLabels, "")))
	f.Add([]byte(`{"Config":{"Volumes":1},"HostConfig":{"Links":["/a:/b/c",":"],"Binds":["x"],"Mounts":[null]},"NetworkSettings":{"Networks":{"a":null}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := newBlueprint(&member{id: fakeID, name: "a", raw: text}, "web")
		if err != nil {
			return
		}
		if _, err := b.body("b", map[string]string{"a": "b"}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for _, network := range b.others() {
			b.endpoint(network, "b")
		}
	})
}

func TestLinksAreRewrittenAsTheEngineWantsThem(t *testing.T) {
	text := `{"Config":{},"HostConfig":{"Links":["/db:/web/alias","/db:/web/db_1"]}}`
	b, err := newBlueprint(&member{id: fakeID, name: "web", raw: []byte(text)}, "web")
	if err != nil {
		t.Fatal(err)
	}
	if links := get[[]string](b.host, "Links"); !slices.Equal(links, []string{"db:alias", "db:db_1"}) {
		t.Errorf("the links are %q", links)
	}
}

// made is a member for tests of what is decided about members.
func made(id string, number int, state container.ContainerState, edit func(*member)) *member {
	id = strings.Repeat(id, 64)[:64]
	m := &member{id: id, name: "shop-web-" + fmt.Sprint(number), number: number, slot: fmt.Sprint(number)}
	m.seen.ContainerJSONBase = &container.ContainerJSONBase{ID: id, HostConfig: &container.HostConfig{}, State: &container.State{
		Status: state, Running: state == container.StateRunning, StartedAt: "2026-01-02T03:04:05Z"}}
	m.seen.Config = &container.Config{Labels: map[string]string{}}
	if edit != nil {
		edit(m)
	}
	return m
}

func clonedFrom(template string) func(*member) {
	return func(m *member) {
		m.ours = true
		m.seen.Config.Labels[labelTemplate] = strings.Repeat(template, 64)
	}
}

func health(status container.HealthStatus) func(*member) {
	return func(m *member) {
		clonedFrom("a")(m)
		m.seen.State.Health = &container.Health{Status: status}
	}
}

func TestVictimsAreTheWorstThenTheNewest(t *testing.T) {
	template := made("a", 1, container.StateRunning, nil)
	live := []*member{
		template,
		made("b", 2, container.StateRunning, clonedFrom("a")),
		made("c", 3, container.StateRunning, clonedFrom("z")), // out of date
		made("d", 4, container.StateRunning, health(container.Starting)),
		made("e", 5, container.StateRunning, health(container.Unhealthy)),
		made("f", 6, container.StateCreated, clonedFrom("a")),
		made("1", 7, container.StateRunning, health(container.Healthy)),
		made("2", 8, container.StateRestarting, clonedFrom("a")),
		made("3", 9, container.StateRunning, clonedFrom("a")),
	}
	var order []int
	for _, m := range victims(live, template, 100) {
		order = append(order, m.number)
	}
	if want := []int{6, 8, 5, 4, 3, 9, 7, 2}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}

func TestTemplateIsTheOldestThatOthersRun(t *testing.T) {
	ours := made("a", 1, container.StateRunning, clonedFrom("b"))
	stopped := made("b", 2, container.StateExited, nil)
	running := made("c", 5, container.StateRunning, nil)
	newer := made("d", 6, container.StateRunning, nil)
	old := made("e", 1, container.StateRunning, func(m *member) { m.name = "0123456789ab_shop-web-1" })
	for _, test := range []struct {
		members []*member
		want    *member
	}{
		{[]*member{ours, stopped, newer, running, old}, running},
		{[]*member{ours, stopped}, stopped},
		{[]*member{ours}, ours},
		{nil, nil},
	} {
		if got := templateOf(test.members); got != test.want {
			t.Errorf("the template is %+v", got)
		}
	}
}

func TestLedgerCountsWhatOthersRunAndWhatItKeeps(t *testing.T) {
	l := newLedger()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	template := made("a", 1, container.StateRunning, nil)
	clones := []*member{made("b", 2, container.StateRunning, clonedFrom("a")), made("c", 3, container.StateRunning, clonedFrom("a"))}
	read := func(members ...*member) *scene {
		now = now.Add(time.Second)
		return l.sort(members, now, now)
	}
	want := func(s *scene, wanted, live, empty, overdue int) {
		t.Helper()
		if got := [4]int{s.wanted, len(s.live), len(s.empty), len(s.overdue)}; got != [4]int{wanted, live, empty, overdue} {
			t.Errorf("wanted, live, empty, overdue are %v, want %v", got, [4]int{wanted, live, empty, overdue})
		}
	}
	want(read(template, clones[0], clones[1]), 3, 3, 0, 0)
	want(read(template, clones[0]), 3, 2, 1, 0) // removed by others
	now = now.Add(emptyFor)
	want(read(template, clones[0]), 3, 2, 1, 0) // the template has its 10 seconds to stop
	now = now.Add(removalMargin)
	want(read(template, clones[0]), 3, 2, 1, 1)
	want(read(template, clones[0], made("d", 3, container.StateRunning, nil)), 3, 3, 0, 0)                                                          // Compose has made it anew
	want(read(template, clones[0]), 2, 2, 0, 0)                                                                                                     // and removed
	want(read(template, made("b", 2, container.StateExited, clonedFrom("a"))), 1, 1, 0, 0)                                                          // stopped by somebody
	want(read(template, clones[0]), 2, 2, 0, 0)                                                                                                     // and started again
	want(read(template, clones[0], made("e", 2, container.StateCreated, func(m *member) { m.seen.Config.Labels[labelReplace] = "x" })), 2, 2, 0, 0) // Compose begins to replace it
}

func TestReadingFromBeforeTheEndOfAStopDoesNotBringItBack(t *testing.T) {
	l := newLedger()
	template, victim := made("a", 1, container.StateRunning, nil), made("b", 2, container.StateRunning, clonedFrom("a"))
	now := time.Now()
	if s := l.sort([]*member{template, victim}, now, now); s.wanted != 2 {
		t.Fatalf("the count is %d", s.wanted)
	}
	l.leaving[victim.id] = mark{}
	delete(l.kept, victim.slot)
	l.ended(l.leaving, victim.id)
	if s := l.sort([]*member{template, victim}, now, time.Now()); s.wanted != 1 || len(s.going) != 1 {
		t.Errorf("by an old reading the count is %d", s.wanted)
	}
	if s := l.sort([]*member{template, victim}, time.Now().Add(time.Second), time.Now()); s.wanted != 2 {
		t.Errorf("a container that was not stopped after all does not count: %d", s.wanted)
	}
}
