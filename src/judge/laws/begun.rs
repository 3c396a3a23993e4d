//! A call that an upstream took.

use crate::judge::book::{Book, CallPage, CallPhase, RequestPage, Tries, Truth};
use crate::policy::ledger::Amount;
use crate::sim::{RouteFact, Scripted};
use crate::units::{CallId, CredentialId, RequestId, RouteId, Timestamp};

/// A call that an upstream took, with what the book says of it: looked up once, for all laws and others.
#[derive(Clone, Copy)]
pub(in crate::judge) struct Begun<'b> {
    pub(in crate::judge) call: CallId,
    pub(in crate::judge) request: RequestId,
    pub(in crate::judge) route: RouteId,
    pub(in crate::judge) credential: CredentialId,
    pub(super) scripted: Scripted,
    pub(super) at: Timestamp,
    /// Its request.
    pub(in crate::judge) page: Option<&'b RequestPage>,
    /// The route as it truly is.
    pub(in crate::judge) fact: Option<&'b RouteFact>,
    /// What is true of the route for the request.
    pub(in crate::judge) truth: Truth,
    /// What the request did on the route.
    pub(in crate::judge) tries: Tries,
    /// The most it can cost and use.
    pub(in crate::judge) worst_case: Amount,
    /// What the gateway announced in this slot.
    pub(super) announced: Option<&'b CallPage>,
}

impl<'b> Begun<'b> {
    /// Looks up what the book says of a call.
    pub(in crate::judge) fn new(
        book: &'b Book<'_>,
        at: Timestamp,
        (call, request): (CallId, RequestId),
        (route, credential): (RouteId, CredentialId),
        scripted: Scripted,
    ) -> Begun<'b> {
        let (page, truth) = (book.request(request), book.truth(request, route));
        Begun {
            call,
            request,
            route,
            credential,
            scripted,
            at,
            page,
            fact: book.route(route),
            truth,
            tries: book.tried(request, route),
            worst_case: book.worst_case(request, route),
            announced: book.call(call).filter(|page| page.phase == CallPhase::Asked),
        }
    }
}
