//! Plain tables: columns padded to their widest cell, two spaces between them.

use std::io::{Result, Write};

/// A table that is filled row by row and written at the end.
#[derive(Debug, Default)]
pub struct Table {
    indent: usize,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table indented by `indent` spaces, with the given heads. A head that starts with `>` is of a column of numbers.
    pub fn new(indent: usize, heads: &[&str]) -> Self {
        let right = heads.iter().map(|head| head.starts_with('>')).collect();
        let heads = heads
            .iter()
            .map(|head| head.trim_start_matches('>').to_owned())
            .collect();
        Self {
            indent,
            right,
            rows: vec![heads],
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there is no row below the heads.
    pub fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }

    /// Writes the table.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.right.len()).map(width).collect();
        for row in &self.rows {
            let mut line = " ".repeat(self.indent);
            for ((cell, width), right) in row.iter().zip(&widths).zip(&self.right) {
                let padding = " ".repeat(width - cell.chars().count());
                let (before, after) = if *right {
                    (padding, String::new())
                } else {
                    (String::new(), padding)
                };
                line.extend([before.as_str(), cell, &after, "  "]);
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(2, &["name", ">size"]);
        table.row(["a".into(), "1000000".into()]);
        table.row(["longer".into(), "7".into()]);
        let mut out = Vec::new();
        assert!(table.write(&mut out).is_ok());
        assert_eq!(
            String::from_utf8_lossy(&out),
            "  name       size\n  a       1000000\n  longer        7\n"
        );
    }
}
