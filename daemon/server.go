package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
	"golang.org/x/net/netutil"

	"github.com/hpad/hpad/daemon/config"
)

// Limits of the HTTP servers. A slow or greedy client costs one connection for a bounded time.
const (
	maxConnections    = 256
	maxHeaderBytes    = 16 << 10
	maxBodyBytes      = 64 << 10
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	// A reload is synchronous, so an answer may take long.
	writeTimeout = 2 * time.Minute
)

// serve opens the listeners of the configuration and answers on them. A server that ends by itself
// says so on failed.
func (d *Daemon) serve(undo *closers, failed chan<- error) error {
	settings := d.set.cfg.Daemon
	if settings.Listen != "" {
		if err := d.serveTCP(settings, undo, failed); err != nil {
			return err
		}
	}
	if settings.Socket != "" {
		return d.serveSocket(settings.Socket, undo, failed)
	}
	return nil
}

func (d *Daemon) serveTCP(settings config.Daemon, undo *closers, failed chan<- error) error {
	if settings.WebConfigFile != "" {
		if err := web.Validate(settings.WebConfigFile); err != nil {
			return fmt.Errorf("cannot use the web configuration %q: %w", settings.WebConfigFile, err)
		}
	}
	listener, err := net.Listen("tcp", settings.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %q (daemon.listen): %w", settings.Listen, err)
	}
	server := d.newServer(func() bool { return authenticates(settings.WebConfigFile) })
	flags := &web.FlagConfig{WebConfigFile: &settings.WebConfigFile}
	d.log.Info("listening", "address", listener.Addr().String())
	d.goServe("the HTTP server", server, undo, failed, func() error {
		return web.Serve(netutil.LimitListener(listener, maxConnections), server, flags, quiet(d.log))
	})
	return nil
}

func (d *Daemon) serveSocket(path string, undo *closers, failed chan<- error) error {
	listener, err := listenSocket(path)
	if err != nil {
		return fmt.Errorf("cannot listen on the socket %q (daemon.socket): %w", path, err)
	}
	server := d.newServer(func() bool { return true })
	d.log.Info("listening", "address", "unix://"+path)
	d.goServe("the HTTP server of the socket", server, undo, failed, func() error {
		return server.Serve(netutil.LimitListener(listener, maxConnections))
	})
	return nil
}

// listenSocket listens on a unix socket for its owner and group, in the place of one that a
// process left behind.
func listenSocket(path string) (net.Listener, error) {
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		conn.Close()
		return nil, errors.New("another process answers there already")
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		listener.Close()
		return nil, err
	}
	return listener, nil
}

// goServe runs a server, and stops it gracefully when the daemon stops.
func (d *Daemon) goServe(name string, server *http.Server, undo *closers, failed chan<- error, serve func() error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("%s stopped: %w", name, err)
		}
	}()
	undo.push(name, func(ctx context.Context) error {
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		err := server.Shutdown(within)
		if err != nil {
			// Whoever still talks has had time to finish.
			err = server.Close()
		}
		<-done
		return err
	})
}

// newServer makes a server; privileged says whether its clients may change things.
func (d *Daemon) newServer(privileged func() bool) *http.Server {
	return &http.Server{
		Handler:           d.routes(privileged),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
}

// quiet drops what the web toolkit says below a warning.
func quiet(log *slog.Logger) *slog.Logger {
	return slog.New(warnings{log.Handler()})
}

type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}
