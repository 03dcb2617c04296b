//! Random primes, good enough for keys.

use num_bigint::BigUint;

use super::random::{NoSource, fill};

/// Numbers of Miller-Rabin rounds. The error of a random number of a thousand bits is far below 2^-80 after a few.
const ROUNDS: usize = 20;

/// Primes below this bound are tried as factors first.
const SMALL: u32 = 2_000;

/// Returns a random number of exactly `bits` bits, of which the highest two are set.
///
/// # Errors
/// The source of random bytes failed.
pub fn number(bits: u64) -> Result<BigUint, NoSource> {
    let mut bytes = vec![0; usize::try_from(bits.div_ceil(8)).unwrap_or(0)];
    fill(&mut bytes)?;
    let mut number = BigUint::from_bytes_be(&bytes) >> (bytes.len() as u64 * 8 - bits);
    number.set_bit(bits - 1, true);
    number.set_bit(bits - 2, true);
    Ok(number)
}

/// Returns a random number from 1 to `below` - 1.
///
/// # Errors
/// The source of random bytes failed.
pub fn below(below: &BigUint) -> Result<BigUint, NoSource> {
    // 64 bits more than needed make all numbers equally likely, to 2^-64.
    let mut bytes = vec![0; usize::try_from(below.bits().div_ceil(8) + 8).unwrap_or(0)];
    fill(&mut bytes)?;
    Ok(BigUint::from_bytes_be(&bytes) % (below - 1u8) + 1u8)
}

/// Returns a random prime of exactly `bits` bits, of which the highest two are set.
///
/// # Errors
/// The source of random bytes failed.
pub(crate) fn prime(bits: u64) -> Result<BigUint, NoSource> {
    let small = small_primes();
    loop {
        let mut candidate = number(bits)?;
        candidate.set_bit(0, true);
        if is_prime(&candidate, &small)? {
            return Ok(candidate);
        }
    }
}

/// Returns a prime of 256 bits, a prime of 2048 bits that is one more than a multiple of it, and a number whose powers modulo
/// the latter are as many as the former: the parameters of DSA keys.
///
/// # Errors
/// The source of random bytes failed.
pub fn group() -> Result<[BigUint; 3], NoSource> {
    let (small, order) = (small_primes(), prime(256)?);
    let step = &order << 1u8;
    let modulus = loop {
        let candidate = number(2048)?;
        let candidate = &candidate - &candidate % &step + 1u8;
        if candidate.bits() == 2048 && is_prime(&candidate, &small)? {
            break candidate;
        }
    };
    let exponent = (&modulus - 1u8) / &order;
    let one = BigUint::from(1u8);
    let mut base = BigUint::from(2u8);
    loop {
        let generator = base.modpow(&exponent, &modulus);
        if generator != one {
            return Ok([order, modulus, generator]);
        }
        base += 1u8;
    }
}

fn small_primes() -> Vec<u32> {
    let mut primes: Vec<u32> = Vec::new();
    for n in 2..SMALL {
        if primes.iter().take_while(|prime| *prime * *prime <= n).all(|prime| n % prime != 0) {
            primes.push(n);
        }
    }
    primes
}

/// Returns `true` if an odd number above the small primes is probably prime: a test of Miller and Rabin with random bases.
fn is_prime(number: &BigUint, small: &[u32]) -> Result<bool, NoSource> {
    if small.iter().any(|prime| number % *prime == BigUint::ZERO) {
        return Ok(false);
    }
    let (one, last) = (BigUint::from(1u8), number - 1u8);
    let twos = last.trailing_zeros().unwrap_or(0);
    let odd = &last >> twos;
    for _ in 0..ROUNDS {
        let mut power = below(&last)?.modpow(&odd, number);
        let mut passes = power == one || power == last;
        for _ in 1..twos {
            power = power.modpow(&BigUint::from(2u8), number);
            passes |= power == last;
        }
        if !passes {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_told_from_products() {
        let small = small_primes();
        assert_eq!(small.len(), 303);
        // Mersenne's prime of 127 bits, and the product of it and another prime.
        let prime_127 = (BigUint::from(1u8) << 127) - 1u8;
        let prime_61 = (BigUint::from(1u8) << 61) - 1u8;
        assert!(is_prime(&prime_127, &small).unwrap() && is_prime(&prime_61, &small).unwrap());
        assert!(!is_prime(&(&prime_127 * &prime_61), &small).unwrap());
        let made = prime(256).unwrap();
        assert!(made.bits() == 256 && made.bit(254) && made.bit(0));
        assert!(below(&prime_61).unwrap() < prime_61);
    }
}
