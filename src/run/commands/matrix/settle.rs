//! The totals of all results: on the terminal, and in the files of the matrix.

use std::{fs, path::Path};

use crate::{
    error::Error,
    report::{
        Style,
        matrix::{Fold, summary},
    },
    run::{
        process::console::{failed, say},
        results::outputs::{self, Output},
    },
};

/// Prints the totals, and writes them to the directory, if there is one, and as reports; the value is the exit code.
pub fn settle(fold: Fold, directory: Option<&Path>, outputs: &[Output], style: &Style) -> Result<u8, Error> {
    let matrix = fold.finish();
    for (directory, (ending, text)) in
        directory.iter().flat_map(|directory| matrix.forms().map(|form| (directory, form)))
    {
        let (new, path) = (directory.join(format!(".matrix.{ending}")), directory.join(format!("matrix.{ending}")));
        fs::write(&new, text)
            .and_then(|()| fs::rename(&new, &path))
            .map_err(|source| failed(&path, "write", source))?;
    }
    say(&format!("\n{}", summary(&matrix, style)));
    if let Some(directory) = directory {
        say(&format!("see     {}", directory.join("matrix.html").display()));
    }
    outputs::write_matrix(outputs, &matrix)?;
    Ok(matrix.exit_code)
}
