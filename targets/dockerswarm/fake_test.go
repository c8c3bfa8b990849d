package dockerswarm

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/targettest"
)

// fakeEngine answers as an engine does where a real one cannot be brought to. It is strict: a
// request that the driver has no business to make is answered with 418.
type fakeEngine struct {
	service string // the text of GET /services/web

	mu      sync.Mutex
	update  func(http.ResponseWriter) // the answer to the update
	updates []string                  // their bodies
}

const fakeService = `{"ID":"s1","Version":{"Index":7},"New":{"big":12345678901234567890},
"Spec":{"Name":"web","Mode":{"Replicated":{"Replicas":2,"Later":1.10}},"TaskTemplate":{"Unknown":[1e400]},"Z":"<&>"}}`

func (f *fakeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Api-Version", "1.44")
	w.Header().Set("Content-Type", "application/json")
	path := strings.TrimPrefix(r.URL.Path, "/v1.44")
	switch {
	case path == "/_ping":
	case path == "/info" && r.Method == http.MethodGet:
		_, _ = io.WriteString(w, `{"Swarm":{"NodeID":"here"}}`)
	case path == "/services/web" && r.URL.Query().Get("insertDefaults") == "false":
		_, _ = io.WriteString(w, f.service)
	case path == "/services/s1/update" && r.Method == http.MethodPost && r.URL.RawQuery == "version=7":
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		f.updates = append(f.updates, string(body))
		f.mu.Unlock()
		f.update(w)
	default:
		http.Error(w, fmt.Sprintf(`{"message":"unexpected %s %s"}`, r.Method, r.URL), http.StatusTeapot)
	}
}

func (f *fakeEngine) set(t *testing.T, replicas int32) error {
	t.Helper()
	if f.service == "" {
		f.service = fakeService
	}
	proxy := targettest.NewProxyOf(t, f)
	connection := connect(t, "tcp://"+proxy.Address())
	defer connection.Close()
	target, err := connection.Bind(table("service", "web"))
	if err != nil {
		t.Fatal(err)
	}
	return target.SetReplicas(t.Context(), targets.Status{Version: "7", SpecReplicas: 2}, replicas)
}

func TestUpdateChangesOneNumberOnly(t *testing.T) {
	f := &fakeEngine{update: func(http.ResponseWriter) {}}
	if err := f.set(t, 5); err != nil {
		t.Fatal(err)
	}
	if len(f.updates) != 1 {
		t.Fatalf("the updates are %q", f.updates)
	}
	want := `{"Mode":{"Replicated":{"Later":1.10,"Replicas":5}},"Name":"web","TaskTemplate":{"Unknown":[1e400]},"Z":"\u003c\u0026\u003e"}`
	if diff := cmp.Diff(want, f.updates[0]); diff != "" {
		t.Error(diff)
	}
}

func TestAnswersToAnUpdateAreClassed(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   targets.Class
	}{
		{500, `{"message":"rpc error: code = Unknown desc = update out of sequence"}`, targets.Conflict},
		{500, `{"message":"rpc error: code = DeadlineExceeded desc = context deadline exceeded"}`, targets.Uncertain},
		{502, `<html>bad gateway</html>`, targets.Uncertain},
		{503, `{"message":"The swarm does not have a leader."}`, targets.Uncertain},
		{503, `{"message":"This node is not a swarm manager."}`, targets.Invalid},
		{404, `{"message":"service s1 not found"}`, targets.NotFound},
		{403, `{"message":"no"}`, targets.Denied},
		{401, ``, targets.Denied},
		{429, ``, targets.Throttled},
		{400, `{"message":"invalid"}`, targets.Invalid},
	} {
		f := &fakeEngine{update: func(w http.ResponseWriter) {
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		}}
		err := f.set(t, 5)
		if err == nil || targets.ClassOf(err, true) != test.want || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d %s: the error is %v, want class %v", test.status, test.body, err, test.want)
		}
	}
}

func TestLostAnswerIsUncertain(t *testing.T) {
	f := &fakeEngine{update: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }}
	wantClass(t, f.set(t, 5), targets.Uncertain)
}

func TestGarbledServiceIsNotUpdated(t *testing.T) {
	for _, text := range []string{"", "null", "[]", `{"ID":"s1","Spec":`, "{}", strings.Replace(fakeService, `"Replicas":2`, `"Replicas":-2`, 1)} {
		f := &fakeEngine{service: text + " ", update: func(http.ResponseWriter) {}}
		if err := f.set(t, 5); err == nil || len(f.updates) > 0 {
			t.Errorf("%q: error %v, updates %q", text, err, f.updates)
		}
	}
}

func TestUnreachableEngineIsUnavailableAndForbiddenOneDenied(t *testing.T) {
	connection := connect(t, "unix://"+filepath.Join(t.TempDir(), "d.sock"))
	defer connection.Close()
	target, err := connection.Bind(table("service", "web"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = target.Status(t.Context())
	wantClass(t, err, targets.Unavailable)
	wantClass(t, target.SetReplicas(t.Context(), targets.Status{}, 2), targets.Unavailable)

	refused := &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EACCES)}}
	class, hint := classOf(fmt.Errorf("cannot connect: %w", refused))
	if class != targets.Denied || !strings.Contains(hint, "group") {
		t.Errorf("a socket without permission is %v, %q", class, hint)
	}
}

func FuzzReplicasAreReplaced(f *testing.F) {
	f.Add([]byte(fakeService))
	f.Add([]byte(`{"Spec":{"Mode":{"Replicated":null}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		spec, err := withReplicas(text, 5)
		if err != nil {
			return
		}
		var got map[string]map[string]map[string]json.RawMessage
		_ = json.Unmarshal(spec, &got) // other members are no objects, which is an error and harmless
		if string(got["Mode"]["Replicated"]["Replicas"]) != "5" {
			t.Errorf("%s became %s", text, spec)
		}
	})
}
