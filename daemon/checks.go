package daemon

import (
	"errors"
	"fmt"

	"github.com/prometheus/exporter-toolkit/web"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/config"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
)

// feed finds the sources of the binding's metrics among those that are open. Its errors are option
// errors of the workload's table.
func (b *binding) feed(open map[string]*source) error {
	b.feeds = make([]feed, len(b.config.Metrics))
	var errs []error
	for i, m := range b.config.Metrics {
		f := feed{metric: m, spec: &b.config.Spec.Metrics[i], source: b.connection.resources}
		key := fmt.Sprintf("metric[%d].", i)
		if m.Source != "" {
			f.source = open[m.Source]
			if f.source == nil {
				// Its table has a problem of its own, reported already.
				continue
			}
		}
		b.feeds[i] = f
		errs = append(errs, b.check(&f, key))
	}
	return errors.Join(errs...)
}

// check says why the source cannot be asked for the metric.
func (b *binding) check(f *feed, key string) error {
	resource := f.spec.Type == algorithm.TypeResource || f.spec.Type == algorithm.TypeContainerResource
	switch {
	case f.source == nil && resource:
		return options.Errorf(key+"source",
			"is required: nothing measures the instances of driver %q by itself", b.connection.table.Driver)
	case f.source == nil:
		return options.Errorf(key+"source", "is required")
	case !f.byQuery() && f.source.resources == nil:
		return options.Errorf(key+"source",
			"source %q cannot measure instances, it only answers queries: give a query, or name another source", f.source.name)
	case f.byQuery() && f.source.queries == nil:
		return options.Errorf(key+"source", "source %q answers no queries, it only measures instances", f.source.name)
	case f.byQuery():
		return checkQuery(f, key)
	}
	return nil
}

func checkQuery(f *feed, key string) error {
	checker, ok := f.source.raw.(sources.QueryChecker)
	if !ok {
		return nil
	}
	if err := checker.CheckQuery(f.query()); err != nil {
		return options.Errorf(key+"query", "%v", err)
	}
	return nil
}

// checkRequests finds utilizations of what nobody knows the requests of.
func (b *binding) checkRequests() error {
	if b.connection.driver.KnowsRequests {
		return nil
	}
	var errs []error
	missing := map[string]bool{}
	for i := range b.config.Spec.Metrics {
		m := &b.config.Spec.Metrics[i]
		if !ofRequests(m) || requested(b.config.Requests, m.Name) || missing[m.Name] {
			continue
		}
		missing[m.Name] = true
		amount := "500m"
		if m.Name == "memory" {
			amount = "512Mi"
		}
		errs = append(errs, options.Errorf("requests",
			"a utilization of %d %% (the default is cpu at 80 %%) needs what an instance requests of %s: set requests = { %s = %q }",
			m.Target.Value, m.Name, m.Name, amount))
	}
	return errors.Join(errs...)
}

// ofRequests tells whether the metric is a share of what instances request.
func ofRequests(m *algorithm.Metric) bool { return m.Target.Kind == algorithm.KindAverageUtilization }

// checkStart refuses a target that hpad itself runs and nothing would ever start.
func (b *binding) checkStart() error {
	spec := &b.config.Spec
	if t, ok := b.target.Target.(resumer); !ok || t.InitialReplicas() > 0 || spec.ScaleToZero && spec.MinReplicas == 0 {
		return nil
	}
	return options.Errorf("target.replicas",
		"must be >= 1, is 0: nothing would ever start it (0 takes min_replicas = 0 and scale_to_zero = true)")
}

// checkWeb asks the web toolkit what it thinks of its file.
func (b *builder) checkWeb() {
	path := b.set.cfg.Daemon.WebConfigFile
	if path == "" {
		return
	}
	if err := web.Validate(path); err != nil {
		b.problems = append(b.problems, config.Problem{
			File: b.set.cfg.Path, Key: "daemon.web_config_file", Message: fmt.Sprintf("cannot be used: %v", err),
		})
	}
}

// refuseDuplicates finds workloads that would fight over one target.
func (b *builder) refuseDuplicates() {
	first := map[string]*binding{}
	for _, bound := range b.set.bindings {
		id := bound.target.ID()
		other, taken := first[id]
		if !taken {
			first[id] = bound
			continue
		}
		place := other.config.Problems(errors.New(""))[0]
		b.problems = append(b.problems, bound.config.Problems(options.Errorf("target",
			"is the target of workload %q already (%s:%d): %s", other.config.Name, place.File, place.Line, id))...)
	}
}
