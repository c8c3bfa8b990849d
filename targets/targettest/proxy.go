package targettest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Proxy stands between a driver that speaks HTTP and its platform. It counts the requests that
// want to change something, and can keep back all answers.
type Proxy struct {
	server *httptest.Server
	next   http.Handler

	mu     sync.Mutex
	writes int
	reads  int
	hang   chan struct{} // closed when answers flow again; nil if they do
}

// NewProxy starts a proxy to the server that dial reaches, until the end of the test.
func NewProxy(t testing.TB, dial func(ctx context.Context, network, address string) (net.Conn, error)) *Proxy {
	transport := &http.Transport{DialContext: dial}
	reverse := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "platform"}) },
		Transport: transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	p := NewProxyOf(t, reverse)
	t.Cleanup(transport.CloseIdleConnections)
	return p
}

// NewProxyOf starts a proxy in front of a handler, such as a fake of the platform.
func NewProxyOf(t testing.TB, next http.Handler) *Proxy {
	p := &Proxy{next: next}
	p.server = httptest.NewServer(p)
	t.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
	})
	return p
}

// Address is the host and port of the proxy.
func (p *Proxy) Address() string { return p.server.Listener.Addr().String() }

// Writes counts the requests that were not GET or HEAD.
func (p *Proxy) Writes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

// Reads counts the requests that were GET or HEAD.
func (p *Proxy) Reads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reads
}

// Hang lets requests in and keeps them until release, which may be called more than once. A
// request that its client gave up by then never reaches the platform.
func (p *Proxy) Hang() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	hang := make(chan struct{})
	p.hang = hang
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hang = nil
		close(hang)
	})
}

// ServeHTTP passes a request on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		p.reads++
	} else {
		p.writes++
	}
	hang := p.hang
	p.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-r.Context().Done():
			return
		}
	}
	p.next.ServeHTTP(w, r)
}
