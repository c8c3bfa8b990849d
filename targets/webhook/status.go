package webhook

import (
	"net/http"
	"strconv"
	"time"

	"github.com/hpad/hpad/internal/httpclient"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/jsontarget"
)

// refused makes an error of a status without an error of the contract. The body, which may be a
// page for people or repeat a secret, is not shown.
func (c *connection) refused(r *jsontarget.Request, resp *http.Response) error {
	class, definite, hint := classOfStatus(resp.StatusCode)
	if !definite {
		class = orUncertain(r, class)
	}
	if hint != "" {
		hint = "; " + hint
	}
	err := targets.Errorf(class, "%s answers %s%s", c.client, httpclient.Status(resp.StatusCode), hint)
	if class == targets.Throttled || class == targets.Unavailable || class == targets.Busy {
		return &targets.Error{Class: class, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), c.now()), Err: err}
	}
	return err
}

// classOfStatus returns the class of a status that is no success, and whether it says that nothing
// was done.
func classOfStatus(code int) (class targets.Class, definite bool, hint string) {
	switch code {
	case http.StatusNotFound, http.StatusGone:
		return targets.NotFound, true, "there is no such target, or url is not the right address"
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return targets.Denied, true, "check secret_file, authorization, basic_auth, and the clocks of both sides"
	case http.StatusConflict, http.StatusPreconditionFailed:
		return targets.Conflict, true, ""
	case http.StatusLocked:
		return targets.Busy, true, ""
	case http.StatusTooManyRequests:
		return targets.Throttled, true, ""
	case http.StatusInsufficientStorage:
		return targets.Capacity, true, ""
	case http.StatusServiceUnavailable, http.StatusNotImplemented:
		return targets.Unavailable, true, ""
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return targets.Unavailable, false, ""
	}
	switch {
	case code >= 300 && code < 400:
		return targets.Invalid, true, "redirects are not followed, url must be the final address"
	case code >= 400 && code < 500:
		return targets.Invalid, true, ""
	case code < 300:
		return targets.Unavailable, false, "must be 200 OK"
	}
	return targets.Unavailable, false, ""
}

// denies tells of the statuses whose body may repeat the credentials, and is not looked at.
func denies(code int) bool {
	class, _, _ := classOfStatus(code)
	return code >= 400 && class == targets.Denied
}

// longestWait bounds what a header can ask for.
const longestWait = 24 * time.Hour

// retryAfter reads the header: seconds or a date. What is neither is none.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, longestWait)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), longestWait)
}
