//! The files of a database, for engines that do not look themselves whether it is there.

use std::path::Path;

use crate::adapter::Error;

/// Succeeds if `file`, by which a database is known, is there exactly if the database is not to be created.
pub fn expect_file(file: &Path, create: bool) -> Result<(), Error> {
    match (create, file.try_exists()?) {
        (true, true) => Err(Error::new(format_args!("{} is there already", file.display()))),
        (false, false) => Err(Error::new(format_args!("{} is not there", file.display()))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_neither_created_twice_nor_opened_where_it_is_not() {
        let (there, missing) = (Path::new("/"), Path::new("/nothing/of/this/name"));
        assert!(expect_file(there, false).is_ok() && expect_file(missing, true).is_ok());
        assert!(expect_file(there, true).is_err() && expect_file(missing, false).is_err());
    }
}
