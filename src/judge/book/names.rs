//! How the book calls things, for a reader.

use super::Book;
use crate::sim::RequestName;
use crate::trace::Text;
use crate::units::{CredentialId, RequestId, RouteId};

impl Book<'_> {
    /// The name of a route, for a reader.
    pub fn route_name(&self, id: RouteId) -> &str {
        self.route(id).map_or("an undeclared route", |fact| self.facts.names.text(fact.name))
    }

    /// The name of a credential, for a reader.
    pub fn credential_name(&self, id: CredentialId) -> &str {
        let fact = self.facts.credentials.get(id.index());
        fact.map_or("an undeclared credential", |fact| self.facts.names.text(fact.name))
    }

    /// The name of the request in a slot, for a reader.
    pub fn request_name(&self, id: RequestId) -> String {
        self.request(id)
            .map_or_else(|| "a request that never arrived".to_owned(), |page| self.name(page.name))
    }

    /// The name of a request, for a reader.
    pub fn name(&self, name: RequestName) -> String {
        if self.facts.sources.len() <= usize::from(name.source) {
            return "an undeclared request".to_owned();
        }
        Text::Request(self.facts, name).to_string()
    }
}
