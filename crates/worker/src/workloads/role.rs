//! The roles of clients.

use kvdyno_experiment::RunKey;
use kvdyno_results::OpKind;

use super::parameters::WorkloadParameters;
use crate::clock::{Clock, Monotonic, Tsc};
use crate::key_choice::{AnyChoice, Draw, KeyChoice, UsesKeyChoice};
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
    fn keys(&self) -> &'static [RunKey] {
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
    /// The number of ids that it draws from: by default one for each record.
    fn ids<C>(&self, driver: &Driver<'_, C>) -> u64 {
        driver.parameters.data.records
    }

    /// Its loop with a distribution.
    fn start_drawing<C: Clock + 'static, K: KeyChoice>(&self, choice: K, driver: &Driver<'_, C>) -> Box<dyn Work<C>>;

    /// Its loop with the trial's distribution. A role whose operations cost much more than a draw overrides it with
    /// [`start_with_few`].
    fn start_with_distribution<C: RoleClock>(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>>
    where
        Self: Sized,
    {
        driver.parameters.distribution.draw(self.ids(driver), driver.stream(), Starting { role: self, driver })
    }
}

/// The loop of a role with the trial's distribution, compiled for few types of distributions: the compiler's work on a
/// large loop is most of its work on this crate.
pub(crate) fn start_with_few<C: RoleClock>(role: &impl DrawingRole, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
    driver.parameters.distribution.draw_with_few(role.ids(driver), driver.stream(), Starting { role, driver })
}

/// A role that is about to get its distribution.
struct Starting<'a, 'b, R, C> {
    role: &'a R,
    driver: &'a Driver<'b, C>,
}

impl<R: DrawingRole, C: RoleClock> UsesKeyChoice for Starting<'_, '_, R, C> {
    type Output = Box<dyn Work<C>>;

    fn with<K: KeyChoice>(self, choice: K) -> Box<dyn Work<C>> {
        C::start_drawing(self.role, choice, self.driver)
    }
}

impl<R: DrawingRole, C: RoleClock> StartRole<C> for R {
    fn start(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        self.start_with_distribution(driver)
    }
}

/// A clock that roles can be timed by.
pub(crate) trait RoleClock: Clock + Sized + 'static {
    /// The loop of a role.
    fn start(role: Role, driver: &Driver<'_, Self>) -> Box<dyn Work<Self>>;

    /// The loop of a role that draws, with its distribution.
    fn start_drawing<R: DrawingRole, K: KeyChoice>(
        role: &R,
        choice: K,
        driver: &Driver<'_, Self>,
    ) -> Box<dyn Work<Self>>;
}

/// Its loops are compiled for each distribution, so that none costs another an instruction.
impl RoleClock for Tsc {
    fn start(role: Role, driver: &Driver<'_, Tsc>) -> Box<dyn Work<Tsc>> {
        role.start(driver)
    }

    fn start_drawing<R: DrawingRole, K: KeyChoice>(
        role: &R,
        choice: K,
        driver: &Driver<'_, Tsc>,
    ) -> Box<dyn Work<Tsc>> {
        role.start_drawing(choice, driver)
    }
}

/// Its readings cost more than a call through a pointer, so its loops are compiled once for all distributions.
impl RoleClock for Monotonic {
    fn start(role: Role, driver: &Driver<'_, Monotonic>) -> Box<dyn Work<Monotonic>> {
        role.start(driver)
    }

    fn start_drawing<R: DrawingRole, K: KeyChoice>(
        role: &R,
        choice: K,
        driver: &Driver<'_, Monotonic>,
    ) -> Box<dyn Work<Monotonic>> {
        if K::FOLLOWS {
            role.start_drawing(AnyChoice::<true>::new(choice), driver)
        } else {
            role.start_drawing(AnyChoice::<false>::new(choice), driver)
        }
    }
}
