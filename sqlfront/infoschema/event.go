package infoschema

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// CreateEvent is SHOW CREATE EVENT. The library writes the comment as it is.
func CreateEvent(ctx *sql.Context, n *plan.ShowCreateEvent) (sql.RowIter, error) {
	var vars [3]any
	for i, name := range []string{"character_set_client", "collation_connection", "collation_server"} {
		v, err := ctx.GetSessionVariable(ctx, name)
		if err != nil {
			return nil, err
		}
		vars[i] = v
	}
	e := n.Event.ConvertTimesFromUTCToTz(sql.SystemTimezoneOffset()) // they are stored in UTC
	const format = sql.EventDateSpaceTimeFormat
	var b strings.Builder
	b.WriteString("CREATE")
	if e.Definer != "" {
		b.WriteString(" DEFINER = " + e.Definer)
	}
	b.WriteString(" EVENT " + "`" + strings.ReplaceAll(e.Name, "`", "``") + "`" + " ON SCHEDULE ")
	if e.HasExecuteAt {
		b.WriteString("AT '" + e.ExecuteAt.Format(format) + "'")
	} else {
		b.WriteString("EVERY " + e.ExecuteEvery + " STARTS '" + e.Starts.Format(format) + "'")
		if e.HasEnds {
			b.WriteString(" ENDS '" + e.Ends.Format(format) + "'")
		}
	}
	if e.OnCompletionPreserve {
		b.WriteString(" ON COMPLETION PRESERVE ")
	} else {
		b.WriteString(" ON COMPLETION NOT PRESERVE ")
	}
	b.WriteString(e.Status)
	if e.Comment != "" {
		b.WriteString(" COMMENT " + QuoteText(e.Comment))
	}
	b.WriteString(" DO " + e.EventBody)
	return sql.RowsToRowIter(sql.Row{e.Name, e.SqlMode, "SYSTEM", b.String(), vars[0], vars[1], vars[2]}), nil
}
