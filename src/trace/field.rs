//! The fields of an event, named exactly as in `events.jsonl`, and what their values are.

use super::buffer::Padded;
pub use super::unit::{Unit, Value};
use super::unit::{dollars, whole};
use crate::units::names;

/// Room for every key.
pub(crate) const KEY: usize = 40;

macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident $label:literal $unit:ident)+) => {
        /// A field of an event.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum Field { $($(#[$doc])* $field),+ }

        impl Field {
            /// Every field.
            pub const ALL: &[Field] = &[$(Field::$field),+];

            /// The key in `events.jsonl`.
            pub const fn label(self) -> &'static str {
                match self { $(Field::$field => $label),+ }
            }

            /// What its values are.
            pub const fn unit(self) -> Unit {
                match self { $(Field::$field => Unit::$unit),+ }
            }
        }

        const HASHES: &[u64] = &[$(names::hash($label)),+];

        /// The keys as JSON, each with all that stands between two values.
        const KEYS: &[Padded<KEY>] = &[
            $(Padded::new(concat!(",\"", $label, "\":")).with(Unit::$unit.quote())),+
        ];
    };
}

fields! {
    // Who and where.
    /// The layer of the stack; only if there are several. Every event can have it, before its own fields.
    Layer "layer" Word
    /// The request.
    Request "request" Word
    /// The call: the request and the number of the call there.
    Call "call" Word
    /// The route.
    Route "route" Word
    /// The credential, by its alias.
    Credential "credential" Word
    /// The project.
    Project "project" Word
    /// The provider.
    Provider "provider" Word
    /// The model.
    Model "model" Word
    /// The task.
    Task "task" Word
    /// The tenant, by its pseudonym.
    Tenant "tenant" Word
    /// The fault domain whose breaker it is.
    Breaker "breaker" Word
    /// The scope whose health it is.
    Health "health" Word

    // The envelope of a request, and what a route offers.
    /// What it asks: requests with the same are identical.
    Content "content" Word
    /// What sending a request twice does twice.
    Effect "effect" Word
    /// Who goes first when requests wait for a slot: higher before lower.
    Priority "priority" Count
    /// Capabilities that are required, or offered.
    Capabilities "capabilities" Words
    /// Regions that the data may enter.
    Regions "regions" Words
    /// The region of a route.
    Region "region" Word
    /// Kinds of deployment that are allowed.
    Deployments "deployments" Words
    /// The kind of deployment of a route.
    Deployment "deployment" Word
    /// The class of the data.
    DataClass "data_class" Word
    /// The most sensitive class of data that may enter a route.
    DataClassMax "data_class_max" Word
    /// The kind of task of a request.
    TaskType "task_type" Word
    /// The kinds of task that a route is approved for.
    TaskTypes "task_types" Words
    /// The wire protocol.
    Protocol "protocol" Word
    /// The tool-schema contract.
    Contract "contract" Word
    /// How the answer is delivered.
    Delivery "delivery" Word
    /// The last instant at which an answer is in time.
    Deadline "deadline_ns" Time
    /// The most that all attempts may cost together.
    CostMax "cost_max_usd" Money
    /// The most tokens that all attempts may use together.
    TokensMax "tokens_max" Count
    /// The most tokens that may be written.
    OutputMax "output_tokens_max" Count
    /// The most tokens that fit a route's context.
    ContextMax "context_tokens_max" Count
    /// The credentials of a route, each with its project: `key@project`.
    Credentials "credentials" Words

    // Tokens.
    /// Fresh input.
    InputTokens "input_tokens" Count
    /// Input read from the cache.
    CacheReadTokens "cache_read_tokens" Count
    /// Input written to the cache.
    CacheWriteTokens "cache_write_tokens" Count
    /// Input from images.
    ImageTokens "image_tokens" Count
    /// Input from audio.
    AudioTokens "audio_tokens" Count
    /// Output.
    OutputTokens "output_tokens" Count

    // Prices.
    /// A million tokens of fresh input.
    InputPrice "input_usd_per_mtok" Money
    /// A million tokens of output.
    OutputPrice "output_usd_per_mtok" Money
    /// A million tokens read from the cache.
    CacheReadPrice "cache_read_usd_per_mtok" Money
    /// A million tokens written to the cache.
    CacheWritePrice "cache_write_usd_per_mtok" Money
    /// A million tokens of images.
    ImagePrice "image_usd_per_mtok" Money
    /// A million tokens of audio.
    AudioPrice "audio_usd_per_mtok" Money
    /// The input above which the long-context prices are charged.
    LongAbove "long_above_tokens" Count
    /// A million tokens of fresh input in a long context.
    LongInputPrice "long_input_usd_per_mtok" Money
    /// A million tokens of output in a long context.
    LongOutputPrice "long_output_usd_per_mtok" Money
    /// A million tokens read from the cache in a long context.
    LongCacheReadPrice "long_cache_read_usd_per_mtok" Money
    /// A million tokens written to the cache in a long context.
    LongCacheWritePrice "long_cache_write_usd_per_mtok" Money
    /// A million tokens of images in a long context.
    LongImagePrice "long_image_usd_per_mtok" Money
    /// A million tokens of audio in a long context.
    LongAudioPrice "long_audio_usd_per_mtok" Money

    // Limits and versions.
    /// Calls that a request may make.
    AttemptsMax "attempts_max" Count
    /// Calls that a request may make on one route.
    CallsPerRouteMax "calls_per_route_max" Count
    /// How often a request may look for a route.
    SeeksMax "seeks_max" Count
    /// Calls that a request may have in flight at once.
    LegsMax "legs_max" Count
    /// The most that one call may cost.
    AttemptCostMax "attempt_cost_max_usd" Money
    /// The most tokens that one call may use.
    AttemptTokensMax "attempt_tokens_max" Count
    /// Retries whose worst case must fit the request's cap too.
    ReserveRetries "reserve_retries" Count
    /// When the budget is asked, if not before each call with what calls in flight may cost.
    Reserve "reserve" Word
    /// The longest wait that a response may ask for and get.
    HintMax "hint_max_ns" Span
    /// How the wait before another attempt grows.
    Backoff "backoff" Word
    /// That wait after the first failure, before it is spread.
    BackoffBase "backoff_base_ns" Span
    /// By what it is multiplied after each failure: the numerator.
    BackoffTimes "backoff_times" Count
    /// The denominator.
    BackoffTimesOf "backoff_times_of" Count
    /// The longest such wait.
    BackoffMax "backoff_max_ns" Span
    /// How it is spread, if it is.
    Jitter "jitter" Word
    /// Within which share of the wait: the numerator.
    JitterShare "jitter_share" Count
    /// The denominator.
    JitterShareOf "jitter_share_of" Count
    /// From a leg's beginning to the next one's.
    HedgeAfter "hedge_after_ns" Span
    /// At least that, where it is a latency that is measured.
    HedgeAfterLeast "hedge_after_least_ns" Span
    /// From a call to its end.
    AttemptTimeout "attempt_timeout_ns" Span
    /// From a call to the first byte of a stream.
    FirstByteTimeout "first_byte_timeout_ns" Span
    /// Between two signs of life of a stream.
    IdleTimeout "idle_timeout_ns" Span
    /// How long the receipt of a stopped call is waited for.
    ReceiptMax "receipt_max_ns" Span
    /// What routes are preferred by, most important first, if not by all in the documented order.
    PreferredBy "preferred_by" Words
    /// P95 latencies that differ by less are equal; 50 ms is not told.
    LatencyStep "latency_step_ns" Span
    /// Calls before a measured P95 replaces the declared one; 10 is not told.
    LatencySamplesMin "latency_samples_min" Count
    /// The P95 latency of a route before any is measured; 1 s is not told.
    LatencyP95 "latency_p95_ns" Span
    /// The quality of a route.
    Quality "quality" Count
    /// The share of a route among those that tie.
    Weight "weight" Count
    /// How long a rate limit without a hint benches what it concerns.
    RateLimitCooldown "rate_limit_cooldown_ns" Span
    /// How long a used-up window without a hint does.
    QuotaCooldown "quota_cooldown_ns" Span
    /// Calls in flight at once on one route.
    RouteLegsMax "route_legs_max" Count
    /// Calls in flight at once for one task.
    TaskLegsMax "task_legs_max" Count
    /// Calls in flight at once for one tenant.
    TenantLegsMax "tenant_legs_max" Count
    /// Requests that may wait for a slot.
    QueueMax "queue_max" Count
    /// Calls that a task may make.
    CallsPerTask "calls_per_task" Count
    /// Calls that the run may make.
    CallsPerRun "calls_per_run" Count
    /// Calls in a row that ask the same which a task may make.
    IdenticalPerTask "identical_per_task" Count
    /// Calls in a row that fail after which a task makes no more.
    FailingPerTask "failing_per_task" Count
    /// What a terminal fault stops.
    TerminalScope "terminal_scope" Word
    /// What a request does if a breaker is the first to open; ending at once is not told.
    WhenOpen "when_open" Word
    /// Classes of failures that end a request.
    StopClasses "stop_classes" Words
    /// Classes of failures that count against health.
    BadClasses "bad_classes" Words
    /// Classes of failures that count for health.
    GoodClasses "good_classes" Words
    /// Bad results in a row that make an upstream degraded.
    DegradedAfter "degraded_after" Count
    /// Bad results in a row that make it unhealthy.
    UnhealthyAfter "unhealthy_after" Count
    /// How long it stays unhealthy without a good result.
    HealthCooldown "health_cooldown_ns" Span
    /// What opens a breaker.
    OpensOn "opens_on" Word
    /// How many, or the numerator of a share.
    OpensAfter "opens_after" Count
    /// The denominator of the share.
    OpensOf "opens_of" Count
    /// What a breaker remembers.
    BreakerWindow "breaker_window" Word
    /// How many results or parts that is.
    BreakerWindowSize "breaker_window_size" Count
    /// How long that is, or a part of it.
    BreakerWindowLength "breaker_window_ns" Span
    /// Results before a share means anything.
    BreakerMinimum "breaker_minimum" Count
    /// A call that takes longer is slow.
    SlowAbove "slow_above_ns" Span
    /// The share of slow calls that opens: its numerator.
    SlowCalls "slow_calls" Count
    /// Its denominator.
    SlowOf "slow_of" Count
    /// How long a breaker stays open.
    OpenFor "open_for_ns" Span
    /// Probes that it lets through at once.
    ProbesMax "probes_max" Count
    /// How long a probe may be silent before another is let through.
    ProbeTimeout "probe_timeout_ns" Span
    /// Results of probes that close it.
    CloseAfter "close_after" Count
    /// What a result is worth that comes too late, if anything.
    LateResults "late_results" Word
    /// What a neutral result is worth, if anything.
    NeutralResults "neutral_results" Word
    /// Whether an interval is over at exactly its end, if not so.
    Boundary "boundary" Word
    /// Calls or tokens that fit a window of a quota.
    QuotaLimit "quota_limit" Count
    /// How much of it was used before the run.
    QuotaUsed "quota_used" Count
    /// The layer below.
    Below "below" Word
    /// Calls to upstreams that one request of a caller may lead to, through all layers together.
    StackCallsMax "stack_calls_max" Count
    /// Which deadline the layer below gets: the same (`passed`), one that it gives itself (`its_own`), or `none`.
    DeadlineBelow "deadline_below" Word
    /// The one that it gives itself, from its request's arrival.
    DeadlineBelowAfter "deadline_below_after_ns" Span
    /// Whether the layer below hears of a cancel.
    CancelBelow "cancel_below" Word
    /// The bare HTTP status as which every failure of the layer below comes.
    HearsStatus "hears_http_status" Count
    /// The version of the routing policy.
    PolicyVersion "policy_version" Word
    /// The version of the price table.
    PricesVersion "prices_version" Word
    /// The version of the capability registry.
    RegistryVersion "registry_version" Word

    // Calls and failures.
    /// The number of the call within its request, from one.
    Attempt "attempt" Count
    /// Why the call is made.
    Role "role" Word
    /// The generation of the breaker.
    Generation "generation" Count
    /// Whether the script of the upstream foresaw the call.
    Scripted "scripted" Word
    /// How the call or the task ended.
    Result "result" Word
    /// The HTTP status of the response.
    HttpStatus "http_status" Count
    /// What the failure truly means.
    Truth "truth" Word
    /// What the gateway takes the failure for.
    Class "class" Word
    /// The name of the failure: the provider's code, or its status in words.
    Code "code" Word
    /// The rule that decided the class.
    Rule "rule" Word
    /// What the failure, a bench or a reset concerns.
    Scope "scope" Word
    /// Where sending again could work.
    Resend "resend" Word
    /// How long the response asks to wait.
    Hint "hint_ns" Span
    /// Until when the response asks to wait.
    HintAt "hint_at_ns" Time
    /// The time since it began.
    Elapsed "elapsed_ns" Span
    /// What the call is billed.
    Bill "bill_usd" Money

    // Choosing.
    /// The route that was chosen.
    Chosen "chosen" Word
    /// Every route that was weighed.
    Candidates "candidates" List
    /// What became of a candidate.
    Verdict "verdict" Word
    /// The preference that decided.
    By "by" Word
    /// Why a candidate is excluded.
    Reasons "reasons" Words
    /// What closes a candidate for a time.
    Gate "gate" Word
    /// When it opens.
    RetryAt "retry_at_ns" Time
    /// The health of a candidate, if it is not healthy.
    HealthState "health_state" Word
    /// The most that a call on it can cost.
    WorstCase "worst_case_usd" Money

    // Budgets.
    /// The level of a cap.
    Level "level" Word
    /// What the cap counts.
    Counted "unit" Word
    /// The number of the tenant's window.
    Window "window" Count
    /// The length of a window.
    WindowLength "window_ns" Span
    /// Money set aside.
    Reserved "reserved_usd" Money
    /// Tokens set aside.
    ReservedTokens "reserved_tokens" Count
    /// Money used so far.
    Settled "settled_usd" Money
    /// Money set aside for calls in flight.
    Held "held_usd" Money
    /// Money that was wanted.
    Wanted "wanted_usd" Money
    /// What would be used with it.
    Projected "projected_usd" Money
    /// The cap.
    Cap "cap_usd" Money
    /// Tokens used so far.
    SettledTokens "settled_tokens" Count
    /// Tokens set aside for calls in flight.
    HeldTokens "held_tokens" Count
    /// Tokens that were wanted.
    WantedTokens "wanted_tokens" Count
    /// What would be used with them.
    ProjectedTokens "projected_tokens" Count
    /// The cap in tokens.
    CapTokens "cap_tokens" Count
    /// On what grounds a cost is settled.
    Basis "basis" Word
    /// What was billed.
    Billed "billed_usd" Money
    /// Tokens that were billed.
    BilledTokens "billed_tokens" Count
    /// What is free again.
    Released "released_usd" Money
    /// What was billed above the reserved amount.
    Overrun "overrun_usd" Money
    /// The worst case of the route that would be called.
    Quoted "quoted_usd" Money
    /// What a request cost in all.
    Spent "spent_usd" Money

    // Waiting.
    /// What was waited for.
    Wait "wait" Word
    /// When.
    At "at_ns" Time
    /// How long from now.
    Delay "delay_ns" Span
    /// The wait that was refused.
    WaitLength "wait_ns" Span
    /// The time left until the deadline.
    Left "left_ns" Span
    /// Requests that wait for a slot.
    Waiting "waiting" Count
    /// Why not.
    Why "why" Word

    // Breakers, health, benches.
    /// What a result said about health.
    Signal "signal" Word
    /// Whether the result counted.
    Standing "standing" Word
    /// The breaker's failures afterwards.
    BreakerFailures "breaker_failures" Count
    /// The bad results in a row afterwards.
    HealthFailures "health_failures" Count
    /// Of what a status is: a breaker, a health, a bench, a fuse, a stop or a budget.
    Of "of" Word
    /// The state now.
    State "state" Word
    /// The state before.
    From "from" Word
    /// The state after.
    To "to" Word
    /// Until when.
    Until "until_ns" Time
    /// What an operator did.
    Command "command" Word

    // The answer.
    /// How the request ended.
    Outcome "outcome" Word
    /// Calls made.
    Attempts "attempts" Count
    /// The limit that ended the attempts.
    Limit "limit" Word
    /// The fuse.
    Fuse "fuse" Word
    /// Calls made in its scope.
    Calls "calls" Count
    /// What the last real failure was taken for.
    LastClass "last_class" Word
    /// The name of the last real failure.
    LastCode "last_code" Word
}

impl Field {
    /// The field with this key, if there is one.
    pub fn named(label: &str) -> Option<Field> {
        Field::ALL.iter().copied().find(|field| field.label() == label)
    }

    /// The key as JSON, with the comma before it, the colon after it, and the quote before a text.
    #[inline]
    pub(crate) fn json(self) -> &'static Padded<KEY> {
        &KEYS[self as usize]
    }

    /// A number that depends on the key alone.
    pub(crate) const fn hash(self) -> u64 {
        HASHES[self as usize]
    }

    /// The value of a text as it is written in `events.jsonl`; `None` if it is not one of this field's unit.
    pub fn parse(self, text: &str) -> Option<Value> {
        match self.unit() {
            Unit::Word | Unit::Words => Some(Value::Text(text.to_owned())),
            Unit::Count | Unit::Time | Unit::Span => whole(text).map(Value::Number),
            Unit::Money => dollars(text).map(|money| Value::Number(money.picos())),
            Unit::List => None,
        }
    }
}

#[cfg(test)]
mod tests;
