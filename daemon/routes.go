package daemon

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hpad/hpad/daemon/api"
)

// routes answers HTTP requests; privileged says whether a client may change things.
func (d *Daemon) routes(privileged func() bool) http.Handler {
	mux := http.NewServeMux()
	read := func(path string, h http.HandlerFunc) {
		mux.Handle(path, allow(h, http.MethodGet, http.MethodHead))
	}
	metrics := promhttp.HandlerFor(d.metrics.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	read("/metrics", metrics.ServeHTTP)
	read("/-/healthy", plain("hpad is healthy.\n"))
	read("/-/ready", d.serveReady)
	read("/api/v1/workloads", d.serveWorkloads)
	read("/api/v1/workloads/{name}", d.serveWorkload)
	mux.Handle("/-/reload", allow(d.serveReload(privileged), http.MethodPost, http.MethodPut))
	read("/{$}", d.servePage)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, api.Problem{Status: http.StatusNotFound, Detail: "there is nothing at " + r.URL.Path})
	})
	return http.MaxBytesHandler(mux, maxBodyBytes)
}

// allow refuses other methods.
func allow(h http.HandlerFunc, methods ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(methods, r.Method) {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			writeProblem(w, api.Problem{
				Status: http.StatusMethodNotAllowed,
				Detail: "use " + strings.Join(methods, " or ") + ", not " + r.Method,
			})
			return
		}
		h(w, r)
	})
}

func plain(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		// The client is gone if this fails, and nobody is left to tell.
		_, _ = io.WriteString(w, text)
	}
}

func (d *Daemon) serveReady(w http.ResponseWriter, r *http.Request) {
	if !d.ready.Load() {
		writeProblem(w, api.Problem{Status: http.StatusServiceUnavailable, Detail: "hpad is starting or stopping"})
		return
	}
	plain("hpad is ready.\n")(w, r)
}

func (d *Daemon) serveReload(privileged func() bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !privileged() {
			writeProblem(w, api.Problem{
				Status: http.StatusForbidden,
				Detail: "a reload is allowed over the socket (daemon.socket), or over TCP if daemon.web_config_file " +
					"lets only known clients in",
			})
			return
		}
		changes, err := d.Reload(r.Context())
		if err != nil {
			writeProblem(w, api.Problem{
				Status: http.StatusInternalServerError,
				Title:  "cannot reload the configuration; the one before is in force",
				Detail: err.Error(),
			})
			return
		}
		plain("configuration reloaded: "+changes.String()+"\n")(w, r)
	}
}

func (d *Daemon) serveWorkloads(w http.ResponseWriter, _ *http.Request) {
	list := api.WorkloadList{Workloads: []api.Workload{}}
	for _, one := range d.list() {
		list.Workloads = append(list.Workloads, one.describe(false))
	}
	d.answer(w, list)
}

func (d *Daemon) serveWorkload(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	one := d.find(name)
	if one == nil {
		writeProblem(w, api.Problem{
			Status: http.StatusNotFound, Field: "name", Detail: "there is no workload \"" + name + "\"",
		})
		return
	}
	d.answer(w, one.describe(true))
}

// answer answers with v. What cannot be written is a fault of hpad's, and logged the first time.
func (d *Daemon) answer(w http.ResponseWriter, v any) {
	err := writeJSON(w, "application/json", http.StatusOK, v)
	if err == nil {
		return
	}
	d.unwritable.Do(func() { d.log.Error("cannot answer a request", "err", err) })
	writeProblem(w, api.Problem{Status: http.StatusInternalServerError, Detail: "cannot write the answer: " + err.Error()})
}

// writeProblem answers with p; without a title it gets that of its status.
func writeProblem(w http.ResponseWriter, p api.Problem) {
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	// Texts and a number can always be written.
	_ = writeJSON(w, "application/problem+json", p.Status, p)
}

// writeJSON answers with v. If v cannot be written as JSON it answers nothing and returns why.
func writeJSON(w http.ResponseWriter, contentType string, status int, v any) error {
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// The client is gone if this fails, and nobody is left to tell.
	_, _ = body.WriteTo(w)
	return nil
}
