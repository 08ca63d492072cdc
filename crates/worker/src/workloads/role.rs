//! The roles of clients.

use kvdyno_results::OpKind;

use super::parameter::Parameter;
use super::parameters::WorkloadParameters;
use crate::clock::{Clock, Monotonic, Tsc};
use crate::key_choice::{KeyChoice, UsesKeyChoice};
use crate::loops::{Driver, Work};

/// The work of one client: its loop, and what that needs. A role implements this, and [`StartRole`] or [`DrawingRole`].
pub trait RoleDefinition: StartRole<Tsc> + StartRole<Monotonic> + Sync {
    /// The kinds of its operations, at most [`crate::shared::MOST_KINDS`], in the order of its statistics.
    fn operations(&self, spec: &WorkloadParameters) -> Vec<OpKind>;

    /// Whether it writes.
    fn writes(&self) -> bool {
        false
    }

    /// The keys of an experiment file that mean something to it alone.
    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }

    /// A capability that the engine must have, with words for it; absent if every engine can do it.
    fn needs(&self) -> Option<(u64, &'static str)> {
        None
    }
}

/// One of the roles.
pub type Role = &'static dyn RoleDefinition;

/// A role whose loop can be timed by the clock `C`.
pub trait StartRole<C> {
    /// Its loop, with everything made that it needs.
    fn start(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>>;
}

/// A role that draws records at random.
pub(crate) trait DrawingRole {
    /// The number of ids that it draws from.
    fn ids<C>(&self, driver: &Driver<'_, C>) -> u64;

    /// Its loop with a distribution.
    fn start_drawing<C: Clock + 'static, K: KeyChoice>(&self, choice: K, driver: &Driver<'_, C>) -> Box<dyn Work<C>>;
}

/// A role that is about to get its distribution.
struct Starting<'a, 'b, R, C> {
    role: &'a R,
    driver: &'a Driver<'b, C>,
}

impl<R: DrawingRole, C: Clock + 'static> UsesKeyChoice for Starting<'_, '_, R, C> {
    type Output = Box<dyn Work<C>>;

    fn with<K: KeyChoice>(self, choice: K) -> Box<dyn Work<C>> {
        self.role.start_drawing(choice, self.driver)
    }
}

impl<R: DrawingRole, C: Clock + 'static> StartRole<C> for R {
    fn start(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        driver.parameters.distribution.draw(self.ids(driver), driver.stream(), Starting { role: self, driver })
    }
}

/// A clock that roles can be timed by.
pub(crate) trait RoleClock: Clock + Sized + 'static {
    /// The loop of a role.
    fn start(role: Role, driver: &Driver<'_, Self>) -> Box<dyn Work<Self>>;
}

impl RoleClock for Tsc {
    fn start(role: Role, driver: &Driver<'_, Tsc>) -> Box<dyn Work<Tsc>> {
        role.start(driver)
    }
}

impl RoleClock for Monotonic {
    fn start(role: Role, driver: &Driver<'_, Monotonic>) -> Box<dyn Work<Monotonic>> {
        role.start(driver)
    }
}
