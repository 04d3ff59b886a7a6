// Package fulltext is what a FULLTEXT index and MATCH … AGAINST have to know about words: how a text falls
// into them, what a query asks for, whether a text answers it, and how well. It reads and writes nothing;
// package engine keeps the entries and finds the rows.
//
//	text ── Analyzer.Words ──► keys of words          entries of the index (engine)
//	query ── Parse ──► Query ── Docs ──► which entries lead to rows that may match
//	                     │
//	row's texts ── Count ──► Counts ── Matches, Rank ──► the answer
//
// A word is a run of letters, digits, marks and underscores. Words are told apart by the collation of the
// column: its key, which is also its place in the index, is that of an ordinary index over the word.
// Words of less than MinLength or more than MaxLength characters, and those on InnoDB's list of
// stopwords, are not indexed.
//
// The rank is InnoDB's: the sum over the words of tf · idf², idf = log10(N/df), where tf is how often the row
// has the word, df is how many rows have it, and N is how many rows there are.
package fulltext
