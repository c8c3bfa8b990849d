package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hpad/hpad/daemon/config"
)

func addAddressFlag(cmd *cobra.Command) {
	cmd.Flags().String("address", "", "`URL` of the daemon: http://…, https://… or unix:///path; "+
		"default: $HPAD_ADDRESS, else where the configuration says that it listens")
}

// newReader finds the daemon for commands that only ask: by flag, by environment, by the socket of
// the configuration or else by its TCP address.
func newReader(cmd *cobra.Command) (*client, error) {
	if address := givenAddress(cmd); address != "" {
		return clientFor(address)
	}
	d, err := daemonSettings(cmd)
	if err != nil {
		return nil, err
	}
	if d.Socket == "" {
		return overTCP(d)
	}
	why := connect(d.Socket)
	if why == nil || d.Listen == "" {
		return clientFor("unix://" + d.Socket)
	}
	c, err := overTCP(d)
	if err == nil {
		c.before = fmt.Sprintf("unix://%s (%s) nor at ", d.Socket, why)
	}
	return c, err
}

// newChanger finds the daemon for commands that change something: the socket, if there is one, is
// where it takes them, and another hpad that happens to listen at the TCP address is none of theirs.
func newChanger(cmd *cobra.Command) (*client, error) {
	if address := givenAddress(cmd); address != "" {
		return clientFor(address)
	}
	d, err := daemonSettings(cmd)
	if err != nil {
		return nil, err
	}
	if d.Socket == "" {
		return overTCP(d)
	}
	return clientFor("unix://" + d.Socket)
}

func givenAddress(cmd *cobra.Command) string {
	flag, _ := cmd.Flags().GetString("address")
	return cmp.Or(flag, os.Getenv("HPAD_ADDRESS"))
}

func overTCP(d config.Daemon) (*client, error) {
	if d.Listen == "" {
		return nil, badInput{errors.New("cannot tell where hpad listens: daemon.socket and daemon.listen are empty")}
	}
	return clientFor("http://" + d.Listen)
}

// connect tells whether somebody listens at a socket.
func connect(socket string) error {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return failed.Err
	}
	if err != nil {
		return err
	}
	return conn.Close()
}

// daemonSettings are those of the configuration. The rest of it may be broken, for the daemon runs
// on with the one before. Without a configuration they are the defaults, unless one was asked for.
func daemonSettings(cmd *cobra.Command) (config.Daemon, error) {
	file := configFile(cmd)
	cfg, problems := loadConfig(file)
	if !cmd.Flags().Changed("config") && !readable(file) {
		return cfg.Daemon, nil
	}
	if i := slices.IndexFunc(problems, hidesAddress(cfg)); i >= 0 {
		return config.Daemon{}, badInput{fmt.Errorf("cannot tell where hpad listens: %s\n"+
			"Name it with --address or HPAD_ADDRESS", problems[i])}
	}
	return cfg.Daemon, nil
}

// readable is false for a file that is not there, or is not for this user.
func readable(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
	}
	return f.Close() == nil
}

// hidesAddress finds the problems that leave open where the daemon listens: the main file is none,
// or says it wrong.
func hidesAddress(cfg *config.Config) func(config.Problem) bool {
	return func(p config.Problem) bool {
		about := p.Where == "" && slices.Contains([]string{"", "daemon", "daemon.socket", "daemon.listen"}, p.Key)
		return p.File == cfg.Path && about
	}
}
