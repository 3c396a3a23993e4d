//! Dense ids. Ids of what the scenario declares are positions in the catalogue; ids of requests and calls
//! are slots, used again after the request is closed or the call has ended.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($raw:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub $raw);

        impl $name {
            /// The id as a position in its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(/// A request, from its arrival until its last bill is in. A slot: used again afterwards.
    RequestId(u32));
id!(/// One call to an upstream. A slot: used again after its receipt.
    CallId(u32));
id!(/// What the gateway may choose: a position in the catalogue.
    RouteId(u16));
id!(/// One key. A position in the catalogue.
    CredentialId(u16));
id!(/// What several credentials share at a provider: quota and bill.
    ProjectId(u16));
id!(/// A provider. A position in the catalogue.
    ProviderId(u16));
id!(/// A model. A position in the catalogue.
    ModelId(u16));
id!(/// Who pays. A position in the catalogue.
    TenantId(u16));
id!(/// One agent job of many requests. A position in the catalogue.
    TaskId(u32));
id!(/// A fault domain: what shares one breaker. A position in the gateway's table.
    BreakerId(u16));
id!(/// One gateway of a stack: zero is the innermost, whose routes are upstreams; the outermost is the last.
    LayerId(u8));
id!(/// What shares one health state. A position in the gateway's table.
    HealthId(u16));

impl LayerId {
    /// The only one of a file without layers; of a stack the one that calls upstreams.
    pub const INNERMOST: LayerId = LayerId(0);

    /// The layer that it calls, if that is not an upstream.
    pub const fn below(self) -> Option<LayerId> {
        match self.0 {
            0 => None,
            at => Some(LayerId(at - 1)),
        }
    }

    /// The layer that calls it, if there is one.
    pub const fn above(self) -> LayerId {
        LayerId(self.0 + 1)
    }
}
