package systemd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/godbus/dbus/v5"
)

const busName = "org.freedesktop.systemd1"

// bus is a connection to a message bus that is made when it is needed, and again after it is lost.
type bus struct {
	address string
	timeout time.Duration
	// held is the connection, nil if there is none; who takes it out may change it.
	held chan *dbus.Conn
}

func newBus(address string, timeout time.Duration) *bus {
	b := &bus{address: address, timeout: timeout, held: make(chan *dbus.Conn, 1)}
	b.held <- nil
	return b
}

// call asks the object of systemd at the path. Once it was sent, an error that is no answer
// leaves open whether it was done; sent is false if it surely was not.
func (b *bus) call(ctx context.Context, path dbus.ObjectPath, method string, args ...any) (answer []any, sent bool, err error) {
	limited, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	conn, err := b.connected(limited)
	if err != nil {
		return nil, false, err
	}
	call := conn.Object(busName, path).CallWithContext(limited, method, dbus.FlagNoAutoStart, args...)
	var answered dbus.Error
	if call.Err != nil && !errors.As(call.Err, &answered) && ctx.Err() == nil {
		b.drop(conn) // it is broken, or systemd does not answer on it
	}
	return call.Body, true, call.Err
}

// connected returns the connection, and makes it if there is none.
func (b *bus) connected(ctx context.Context) (*dbus.Conn, error) {
	select {
	case conn := <-b.held:
		defer func() { b.held <- conn }()
		if conn != nil && conn.Connected() {
			return conn, nil
		}
		fresh, err := b.dial(ctx)
		if err == nil {
			conn = fresh
		}
		return fresh, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *bus) dial(ctx context.Context) (*dbus.Conn, error) {
	var dialer net.Dialer
	socket, err := dialer.DialContext(ctx, "unix", b.address)
	if err != nil {
		return nil, err
	}
	conn, err := dbus.NewConn(&patientSocket{Conn: socket, patience: b.timeout})
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	release := context.AfterFunc(ctx, func() { _ = socket.Close() })
	err = conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
	if err == nil {
		err = conn.Hello()
	}
	if !release() {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("cannot log in to the bus: %w", err)
	}
	return conn, nil
}

// drop closes a connection that is of no use any more.
func (b *bus) drop(conn *dbus.Conn) {
	now := <-b.held
	if now == conn {
		now = nil
	}
	b.held <- now
	_ = conn.Close()
}

func (b *bus) close() {
	if conn := <-b.held; conn != nil {
		_ = conn.Close()
	}
	b.held <- nil
}

// patientSocket gives up on a peer that takes nothing: the library's writes know no context.
type patientSocket struct {
	net.Conn
	patience time.Duration
}

func (s *patientSocket) Write(text []byte) (int, error) {
	if err := s.SetWriteDeadline(time.Now().Add(s.patience)); err != nil {
		return 0, err
	}
	return s.Conn.Write(text)
}
