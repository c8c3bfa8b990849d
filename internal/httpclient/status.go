package httpclient

import (
	"fmt"
	"net/http"
	"strings"
)

// CheckStatus gives a status that is no success a kind. The remark is what the server said about
// it, if that is known to be its own word; hint is what else may be wrong when the server answers,
// but not as its kind does.
func (c *Client) CheckStatus(code int, remark, hint string) error {
	if remark != "" {
		remark = ": " + remark
	}
	switch {
	case code == http.StatusOK:
		return nil
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return errorf(Denied, "%s denies access (%s)%s; check basic_auth, authorization or oauth2", c, Status(code), remark)
	case code == http.StatusTooManyRequests || code >= 500:
		return errorf(Unavailable, "%s answers %s%s", c, Status(code), remark)
	}
	return errorf(Garbled, "%s answers %s%s; %s", c, Status(code), remark, hint)
}

// Status is a status code with its meaning, as "404 Not Found".
func Status(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}
