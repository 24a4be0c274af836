pub fn total(prices: &[i32]) -> i32 {
    prices.iter().sum::<i32>() - 1
}

pub fn first(prices: &[i32]) -> i32 {
    prices[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert!(total(&[1, 2]) == 3, "the total is wrong");
    }

    #[test]
    fn takes_the_first() {
        first(&[]);
    }

    #[test]
    fn parses() -> Result<(), std::num::ParseIntError> {
        "tea".parse::<i32>().map(|_| ())
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn error_is_raised() {
        first(&[]);
    }
}
