# Plays the release suite on Windows 11 and says whether it is a pass. Success only if the program ended with 0 and its
# summary says the same; both are needed. Building may fetch crates; the run opens nothing.
#
# Windows can only be audited from inside a process: no module that opens sockets was loaded at the start or the end.
# The summary has no number of attempts then, and the strength of the guard is said aloud.
#
# usage: powershell -ExecutionPolicy Bypass -File scripts\run-windows11.ps1 [-Out FOLDER] [-Program FILE]
# Safe for Windows PowerShell 5.1.
param(
    [string]$Out = '',
    [string]$Program = ''
)

$ErrorActionPreference = 'Stop'
[Console]::OutputEncoding = [System.Text.Encoding]::UTF8

function Stop-Failed([string]$Why, [int]$Code) {
    Write-Output "FAIL: $Why"
    exit $Code
}

$Root = Split-Path -Parent $PSScriptRoot
if ($Out -eq '') { $Out = Join-Path $Root 'lab-output' }

if ($Program -eq '' -and $env:FAULTLAB) { $Program = $env:FAULTLAB }
if ($Program -eq '') {
    $Cargo = Get-Command 'cargo' -ErrorAction SilentlyContinue
    $Beside = Join-Path $Root 'faultlab.exe'
    if ($null -ne $Cargo -and (Test-Path (Join-Path $Root 'Cargo.toml'))) {
        Push-Location $Root
        # What a program says on stderr is no error of the script; its exit code is.
        $ErrorActionPreference = 'Continue'
        & cargo build --locked --release --bin faultlab
        $Built = $LASTEXITCODE
        $ErrorActionPreference = 'Stop'
        Pop-Location
        if ($Built -ne 0) { Stop-Failed 'the program cannot be built' 1 }
        $Target = Join-Path $Root 'target'
        if ($env:CARGO_TARGET_DIR) { $Target = $env:CARGO_TARGET_DIR }
        $Program = Join-Path $Target 'release\faultlab.exe'
    } elseif (Test-Path $Beside) {
        $Program = $Beside
    } else {
        $Found = Get-Command 'faultlab' -ErrorAction SilentlyContinue
        if ($null -ne $Found) { $Program = $Found.Source }
    }
}
if ($Program -eq '' -or -not (Test-Path $Program)) {
    Stop-Failed 'neither a program called faultlab nor cargo was found' 1
}

$ErrorActionPreference = 'Continue'
& $Program --out-dir $Out
$Code = $LASTEXITCODE
$ErrorActionPreference = 'Stop'

$File = Join-Path $Out 'summary.json'
if (-not (Test-Path $File)) {
    $Known = 1
    if ($Code -ne 0) { $Known = $Code }
    Stop-Failed "the program ended with $Code and left no summary" $Known
}
try {
    $Summary = Get-Content -Raw -Encoding UTF8 -Path $File | ConvertFrom-Json
} catch {
    Stop-Failed "the summary cannot be read: $_" 1
}

$Acceptance = $Summary.acceptance
foreach ($Check in $Acceptance.checks) {
    if ($Check.verdict -ne 'passed') {
        Write-Output "failed: $($Check.scenario)/$($Check.name): $($Check.detail)"
    }
}
if ($Code -ne 0) { Stop-Failed "the program ended with $Code" $Code }
if ($Summary.complete -ne $true) { Stop-Failed 'the run is not complete' 1 }
if ($Acceptance.scope -ne 'suite') { Stop-Failed "scope is $($Acceptance.scope): no release pass" 1 }
if ($Acceptance.failed -ne 0 -or $Acceptance.total -eq 0 -or $Acceptance.passed -ne $Acceptance.total) {
    Stop-Failed "$($Acceptance.passed) of $($Acceptance.total) checks passed" 1
}
# The counters are somebody's word; the checks are what was counted.
if (@($Acceptance.checks | Where-Object { $_.verdict -eq 'passed' }).Count -ne $Acceptance.total) {
    Stop-Failed "the checks are not $($Acceptance.total) that passed" 1
}
$Strong = @('audited', 'enforced', 'enforced-counted-self', 'enforced-counted')
if ($Strong -notcontains $Summary.guard_strength) {
    Stop-Failed "guard strength is $($Summary.guard_strength)" 1
}
$Counted = $Summary.PSObject.Properties.Name -contains 'outbound_attempts'
if ($Counted -and $Summary.outbound_attempts -ne 0) {
    Stop-Failed "outbound network attempts: $($Summary.outbound_attempts)" 1
}

if ($Counted) {
    Write-Output "guard strength: $($Summary.guard_strength)"
} else {
    Write-Output "guard strength: $($Summary.guard_strength); nothing was counted: 0 is what was found"
}
Write-Output "PASS: $($Acceptance.passed)/$($Acceptance.total) checks; outbound network attempts: 0"
exit 0
