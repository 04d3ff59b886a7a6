// Package page is what a server shows of itself to a person with a browser: an overview with the last quarter
// of an hour, where the rows are, who waits for whom, observers, statements, jobs, a workload that runs, and
// the settings.
//
// It is HTML that the server makes, and reads well without JavaScript. With it, a page stays up to date:
// the same fragments come as server-sent events (events.go). Nothing is fetched from anywhere else, and the
// policy that is sent along forbids it, so the page works on a machine without a way out.
//
// A page is made of panels (panel.go). Each is read with a bound of its own, and one that fails or hangs says
// so in its place, while the others are shown: when something is wrong with a server, that is when its page
// is looked at.
//
// Figures are open to whoever reaches the address; names, keys of rows and words of statements, and all that
// changes something, want the token of the directory of the data (docs/security.md). A browser sends it as
// the password of basic authentication and not as a cookie: cookies are sent to all ports of a machine, so
// that a server of another user on it would be told the token.
package page
