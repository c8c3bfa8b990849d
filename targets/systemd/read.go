package systemd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	managerPath      = dbus.ObjectPath("/org/freedesktop/systemd1")
	managerInterface = "org.freedesktop.systemd1.Manager"
	unitInterface    = "org.freedesktop.systemd1.Unit"
	serviceInterface = "org.freedesktop.systemd1.Service"
	getProperty      = "org.freedesktop.DBus.Properties.Get"
)

// parallel bounds the questions that are under way at the same time.
const parallel = 16

// view is what one reading says of one template.
type view struct {
	units []unit // lowest number first
	// state is "loaded" if instances can be started; else fault says why not, in systemd's words.
	state, fault string
}

// read answers for all templates at once: one list, then what the list does not say.
func (c *connection) read(ctx context.Context, templates []string) (map[string]view, error) {
	views, err := c.survey(ctx, templates)
	if err != nil {
		return nil, err
	}
	var asked []*unit
	for _, v := range views {
		for i := range v.units {
			if v.units[i].exists() {
				asked = append(asked, &v.units[i])
			}
		}
	}
	c.known.forget(time.Now())
	return views, concurrently(len(asked), func(i int) error { return c.complete(ctx, asked[i]) })
}

// survey lists the units of templates, and tells whether more of them can be started.
func (c *connection) survey(ctx context.Context, templates []string) (map[string]view, error) {
	patterns := make([]string, len(templates))
	for i, name := range templates {
		patterns[i] = strings.TrimSuffix(name, serviceSuffix) + "*" + serviceSuffix
	}
	answer, _, err := c.bus.call(ctx, managerPath, managerInterface+".ListUnitsByPatterns", []string{}, patterns)
	if err != nil {
		return nil, err
	}
	units, err := listed(answer)
	if err != nil {
		return nil, err
	}
	all := make([]view, len(templates))
	err = concurrently(len(templates), func(i int) (err error) {
		all[i], err = c.ofTemplate(ctx, templates[i], units)
		return err
	})
	views := make(map[string]view, len(templates))
	for i, name := range templates {
		views[name] = all[i]
	}
	return views, err
}

// row is a unit in the answer of ListUnitsByPatterns.
type row struct {
	Name, Description, Load, Active, Sub, Followed string
	Path                                           dbus.ObjectPath
	JobID                                          uint32
	JobType                                        string
	JobPath                                        dbus.ObjectPath
}

func listed(answer []any) ([]row, error) {
	var rows []row
	if err := dbus.Store(answer, &rows); err != nil {
		return nil, fmt.Errorf("systemd's list of units cannot be read: %w", err)
	}
	return rows, nil
}

// ofTemplate picks the template's units. A unit that does not exist yet tells whether there is
// a template: systemd loads it, and forgets it again.
func (c *connection) ofTemplate(ctx context.Context, template string, rows []row) (view, error) {
	var v view
	for i := range rows {
		r := &rows[i]
		if index, ok := indexOf(template, r.Name); ok {
			v.units = append(v.units, unit{name: r.Name, index: index, active: r.Active, sub: r.Sub, job: r.JobType})
		}
	}
	slices.SortFunc(v.units, func(a, b unit) int { return int(a.index) - int(b.index) })
	probe := instanceName(template, free(v.units, 1, maxIndex, 1)[0])
	state, err := c.property(ctx, probe, unitInterface, "LoadState")
	if err != nil {
		return view{}, err
	}
	v.state, _ = state.Value().(string)
	if v.state == loaded {
		return v, nil
	}
	fault, err := c.property(ctx, probe, unitInterface, "LoadError")
	if err != nil {
		return view{}, err
	}
	if said, ok := fault.Value().([]any); ok && len(said) == 2 {
		v.fault, _ = said[1].(string)
	}
	return v, nil
}

func (c *connection) property(ctx context.Context, unit, of, name string) (dbus.Variant, error) {
	var value dbus.Variant
	answer, _, err := c.bus.call(ctx, unitPath(unit), getProperty, of, name)
	if err == nil {
		err = dbus.Store(answer, &value)
	}
	return value, err
}

// properties are what an instance needs to be told of a unit. Times are in microseconds, limits
// are all ones where there is none.
type properties struct {
	entered, left, begun uint64 // became active, stopped being active, the main process began
	pid                  uint32
	cgroup, result       string
	cpu                  uint64 // microseconds per second
	memoryHigh, memory   uint64
}

// complete sets the properties of a unit. They are asked for only if the unit has changed its state
// since the last time, which one question tells, or if that was a while ago.
func (c *connection) complete(ctx context.Context, u *unit) error {
	var changed uint64
	value, err := c.property(ctx, u.name, unitInterface, "StateChangeTimestamp")
	if err == nil {
		err = value.Store(&changed)
	}
	if err != nil {
		return fmt.Errorf("StateChangeTimestamp of %q: %w", u.name, err)
	}
	if p, ok := c.known.get(u.name, changed); ok {
		u.properties = p
		return nil
	}
	begun := time.Now()
	u.properties, err = c.properties(ctx, u.name)
	if err == nil {
		c.known.put(u.name, memory{changed: changed, read: begun, properties: u.properties})
	}
	return err
}

// properties asks for one property after the other: to get all hundreds of them takes systemd
// longer, since some are read from the unit's control group.
func (c *connection) properties(ctx context.Context, unit string) (properties, error) {
	var p properties
	for _, want := range []struct {
		of, name string
		into     any
	}{
		{unitInterface, "ActiveEnterTimestamp", &p.entered},
		{unitInterface, "ActiveExitTimestamp", &p.left},
		{serviceInterface, "ExecMainStartTimestamp", &p.begun},
		{serviceInterface, "MainPID", &p.pid},
		{serviceInterface, "ControlGroup", &p.cgroup},
		{serviceInterface, "Result", &p.result},
		{serviceInterface, "CPUQuotaPerSecUSec", &p.cpu},
		{serviceInterface, "MemoryHigh", &p.memoryHigh},
		{serviceInterface, "MemoryMax", &p.memory},
	} {
		value, err := c.property(ctx, unit, want.of, want.name)
		if err == nil {
			err = value.Store(want.into)
		}
		if err != nil {
			return properties{}, fmt.Errorf("%s of %q: %w", want.name, unit, err)
		}
	}
	return p, nil
}

// unitPath is the object of a unit: all but letters and digits is escaped.
func unitPath(name string) dbus.ObjectPath {
	var b strings.Builder
	b.WriteString(string(managerPath) + "/unit/")
	for i := range len(name) {
		c := name[i]
		isDigit := c >= '0' && c <= '9'
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit && i > 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "_%02x", c)
	}
	return dbus.ObjectPath(b.String())
}

// concurrently does n things, some of them at the same time, and returns the first error.
func concurrently(n int, do func(i int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, parallel)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
