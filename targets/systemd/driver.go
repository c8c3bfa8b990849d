// Package systemd is the target driver "systemd": the instances of a template unit, app@1.service
// and so on, of the system's or a user's systemd.
//
// systemd keeps no wanted count. The driver takes what somebody has started, and has not stopped
// since, for what is wanted (units.go): the truth is in systemd alone, and whoever starts or stops
// a unit by hand has changed the count. One connection to the bus serves all workloads (bus.go),
// and what is read of systemd is read for all of them at once (read.go).
package systemd

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/readings"
)

// Driver is the driver "systemd".
func Driver() targets.Driver {
	return targets.Driver{
		Name:          "systemd",
		Open:          open,
		KnowsRequests: true,
		Resource:      targets.ResourceSource{Driver: "systemd"},
	}
}

// connectionOptions is the table [targets.NAME].
type connectionOptions struct {
	Manager string           `toml:"manager" doc:"whose units: \"system\" for the machine's, \"user\" for those of the user that hpad runs as"`
	Address string           `toml:"address" doc:"the bus that systemd is on, such as \"unix:path=/run/dbus/system_bus_socket\"; if not set, what the environment says (DBUS_SYSTEM_BUS_ADDRESS, DBUS_SESSION_BUS_ADDRESS), else where the manager's bus usually is"`
	Timeout options.Duration `toml:"timeout" doc:"the longest that one exchange with systemd may take"`
}

func connectionDefaults() connectionOptions {
	return connectionOptions{Manager: "system", Timeout: options.Duration(10 * time.Second)}
}

// bindingOptions is the table of a workload's target.
type bindingOptions struct {
	Unit       string `toml:"unit" doc:"the template unit, such as \"app@.service\"; required"`
	FirstIndex int32  `toml:"first_index" doc:"the number of the first instance: app@1.service"`
	MaxIndex   int32  `toml:"max_index" doc:"the number of the last instance there may be; if not set, any"`
}

func bindingDefaults() bindingOptions { return bindingOptions{FirstIndex: 1} }

// connection is one [targets.NAME]: a manager on a bus.
type connection struct {
	bus      *bus
	readings *readings.Readings[view]
	known    memories
}

func open(_ targets.Environment, table options.Table) (targets.Connection, error) {
	set := connectionDefaults()
	if err := table.Decode(&set); err != nil {
		return nil, err
	}
	address, err := set.address()
	if set.Timeout <= 0 {
		err = errors.Join(err, options.Errorf("timeout", "must be > 0s, is %v", set.Timeout))
	}
	if err != nil {
		return nil, err
	}
	c := &connection{bus: newBus(address, set.Timeout.Std())}
	c.readings = readings.New(c.read)
	return c, nil
}

// templateForm is what a template unit is called; the second part is the kind of unit.
var templateForm = regexp.MustCompile(`^[A-Za-z0-9:_.\\-]{1,200}@(\.[a-z]+)?$`)

// Bind reads the table of a workload's target.
func (c *connection) Bind(table options.Table) (targets.Target, error) {
	set := bindingDefaults()
	if err := table.Decode(&set); err != nil {
		return nil, err
	}
	t := &target{connection: c, name: set.Unit, first: set.FirstIndex, last: set.MaxIndex}
	if strings.HasSuffix(t.name, "@") {
		t.name += serviceSuffix
	}
	var errs []error
	switch {
	case !templateForm.MatchString(t.name):
		errs = append(errs, options.Errorf("unit", `must be the name of a template such as "app@.service", is %s`, options.Show(set.Unit)))
	case !strings.HasSuffix(t.name, serviceSuffix):
		errs = append(errs, options.Errorf("unit", "must be a service, is %s", options.Show(set.Unit)))
	}
	if set.FirstIndex < 0 {
		errs = append(errs, options.Errorf("first_index", "must be >= 0, is %d", set.FirstIndex))
	}
	if t.last == 0 {
		t.last = maxIndex
	}
	if t.last < t.first {
		errs = append(errs, options.Errorf("max_index", "must be >= first_index, which is %d, is %d", t.first, set.MaxIndex))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return t, nil
}

// Close ends what is under way.
func (c *connection) Close() error {
	c.readings.Close()
	c.bus.close()
	return nil
}

func (c *connection) String() string { return fmt.Sprintf("%q", c.bus.address) }
