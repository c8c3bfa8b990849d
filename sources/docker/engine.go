package docker

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
)

const (
	// directVersion is the first API version whose engine answers a one-shot question at once.
	// Older ones answer all open questions together, about once a second: there, a limit of
	// questions in flight would only add seconds.
	directVersion = "1.44"
	directSlots   = 32
	// oldSlots bounds connections, and with them files, even so.
	oldSlots = 1024
	// maxAnswer bounds the size of one answer; real ones have about 2 kB.
	maxAnswer = 1 << 20
)

// engine asks a container engine's API.
type engine struct {
	host     string
	security *tls.Config
	timeout  time.Duration

	// Questions outlive the evaluation that asked them, up to timeout: its cancellation is no
	// reason why another one, waiting for the same answer, should have none.
	ctx    context.Context
	cancel context.CancelFunc
	open   sync.WaitGroup

	mu     sync.Mutex
	client *client.Client
	slots  chan struct{}
}

func newEngine(host string, security *tls.Config, timeout time.Duration) *engine {
	e := &engine{host: host, security: security, timeout: timeout}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// call is a question about one container on its way. Answer and err are set once done is closed.
type call struct {
	at     time.Time
	done   chan struct{}
	answer answer
	err    error
	// taken and samples belong to the container that keeps the call.
	taken   bool
	samples [resources]algorithm.Sample
}

// ask sends a question about a container. It is not called after close.
func (e *engine) ask(id string, at time.Time) *call {
	k := &call{at: at, done: make(chan struct{})}
	e.open.Go(func() {
		defer close(k.done)
		ctx, cancel := context.WithTimeout(e.ctx, e.timeout)
		defer cancel()
		k.answer, k.err = e.stats(ctx, id)
	})
	return k
}

func (e *engine) stats(ctx context.Context, id string) (answer, error) {
	c, slots, err := e.connected(ctx)
	if err != nil {
		return answer{}, failed(err, e.host)
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return answer{}, failed(ctx.Err(), e.host)
	}
	response, err := c.ContainerStatsOneShot(ctx, id)
	switch {
	case errdefs.IsNotFound(err):
		return answer{}, nil
	case errdefs.IsInvalidArgument(err):
		e.forget(c) // perhaps an older engine took the place of the one we negotiated with
		fallthrough
	case err != nil:
		return answer{}, failed(err, e.host)
	}
	defer response.Body.Close()
	a, err := readAnswer(response.Body)
	switch {
	case ctx.Err() != nil:
		return answer{}, failed(ctx.Err(), e.host)
	case err != nil:
		return answer{}, sources.Errorf(sources.Garbled, "cannot read the answer of the engine at %q: %w", e.host, err)
	}
	a.taken = time.Now()
	return a, nil
}

// connected returns a client that speaks a version the engine knows.
func (e *engine) connected(ctx context.Context) (*client.Client, chan struct{}, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client != nil {
		return e.client, e.slots, nil
	}
	c, err := e.dial()
	if err != nil {
		return nil, nil, err
	}
	ping, err := c.Ping(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	c.NegotiateAPIVersionPing(ping)
	slots := oldSlots
	if versions.GreaterThanOrEqualTo(c.ClientVersion(), directVersion) {
		slots = directSlots
	}
	e.client, e.slots = c, make(chan struct{}, slots)
	return e.client, e.slots, nil
}

func (e *engine) dial() (*client.Client, error) {
	transport := &http.Transport{
		MaxIdleConns:        oldSlots,
		MaxIdleConnsPerHost: oldSlots,
		IdleConnTimeout:     90 * time.Second,
		TLSClientConfig:     e.security,
	}
	return client.NewClientWithOpts(
		client.WithHTTPClient(&http.Client{Transport: transport}),
		client.WithHost(e.host),
		client.WithUserAgent("hpad"),
		client.WithAPIVersionNegotiation(),
	)
}

func (e *engine) forget(c *client.Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client == c {
		e.client = nil
	}
}

func (e *engine) close() error {
	e.cancel()
	e.open.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client == nil {
		return nil
	}
	return e.client.Close()
}

// failed gives an error of the client its kind.
func failed(err error, host string) error {
	kind := sources.Unavailable
	if errdefs.IsUnauthorized(err) || errdefs.IsPermissionDenied(err) || errors.Is(err, fs.ErrPermission) {
		kind = sources.Denied
	}
	if text := err.Error(); len(text) > sources.LongestRemark {
		err = errors.New(sources.Cut(text, sources.LongestRemark))
	}
	return sources.Errorf(kind, "cannot ask the engine at %q: %w", host, err)
}
