package dockerswarm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/swarm"

	"github.com/hpad/hpad/targets"
)

// unschedulable is the reason of the block of a service whose tasks find no node.
const unschedulable = "Unschedulable"

// defaultMonitor is how long the swarm watches tasks after an update if the service does not say.
const defaultMonitor = 5 * time.Second

// updateBlocks returns the block of a service that is being updated or rolled back. A change of
// its replicas would restart the rollout without its delay, and replace the specification that a
// rollback returns to by the one that is being rolled out: a failing update would then be rolled
// back to itself.
func updateBlocks(service *swarm.Service, now time.Time) []targets.Block {
	update := service.UpdateStatus
	if update == nil {
		return nil
	}
	block := targets.Block{Up: true, Down: true}
	switch update.State {
	case swarm.UpdateStateUpdating:
		block.Reason, block.Message = "UpdateInProgress", "the service is being updated"
	case swarm.UpdateStateRollbackStarted:
		block.Reason, block.Message = "RollbackInProgress", "the service is being rolled back"
	case swarm.UpdateStatePaused:
		block.Reason, block.Message = "UpdatePaused", "the update of the service was paused, it must be continued or rolled back by hand"
	case swarm.UpdateStateRollbackPaused:
		block.Reason, block.Message = "RollbackPaused", "the rollback of the service was paused, the service must be updated by hand"
	case swarm.UpdateStateCompleted:
		return monitored(update, service.Spec.UpdateConfig, "update", now)
	case swarm.UpdateStateRollbackCompleted:
		return monitored(update, service.Spec.RollbackConfig, "rollback", now)
	default:
		return nil
	}
	if update.Message != "" {
		block.Message += ": " + update.Message
	}
	return []targets.Block{block}
}

// monitored returns the block of a service whose update is over, as long as the swarm still
// watches whether the new tasks fail.
func monitored(update *swarm.UpdateStatus, config *swarm.UpdateConfig, what string, now time.Time) []targets.Block {
	monitor := defaultMonitor
	if config != nil && config.Monitor > 0 {
		monitor = config.Monitor
	}
	if update.CompletedAt == nil || !now.Before(update.CompletedAt.Add(monitor)) {
		return nil
	}
	return []targets.Block{{
		Up: true, Down: true, Reason: "UpdateMonitored",
		Message: fmt.Sprintf("the %s of the service is complete, the swarm watches it for %v more", what, update.CompletedAt.Add(monitor).Sub(now).Round(time.Second)),
	}}
}

// unplaced returns, for each cause, how many tasks find no node.
func unplaced(tasks []swarm.Task) []string {
	counts := map[string]int{}
	for i := range tasks {
		t := &tasks[i]
		waits := t.Status.State == swarm.TaskStatePending && !goes(t)
		if waits && strings.Contains(t.Status.Err, "no suitable node") {
			counts[t.Status.Err]++
		}
	}
	var reasons []string
	for cause, n := range counts {
		tasks := "tasks"
		if n == 1 {
			tasks = "task"
		}
		reasons = append(reasons, fmt.Sprintf("%d %s cannot be placed: %s", n, tasks, cause))
	}
	slices.Sort(reasons)
	return reasons
}
