#[derive(Debug)]
pub enum CartError {
    Failed,
}

/// Always an error.
///
/// ```
/// assert!(shop::error_handler::fail().is_err());
/// ```
pub fn fail() -> Result<(), CartError> {
    Err(CartError::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_raised() {
        println!("errors: 0, error: none");
        assert!(matches!(fail(), Err(CartError::Failed)));
    }

    #[test]
    #[should_panic(expected = "error: no price")]
    fn panics_with_an_error() {
        panic!("error: no price");
    }

    #[test]
    #[ignore = "error: not on this machine"]
    fn failed() {}
}
