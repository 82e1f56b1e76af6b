"""What is proved: one small object for each rule, and one tuple of all. A rule is added here and nowhere else."""

from __future__ import annotations

from .addresses import CAP_05, L3_04
from .authority import AUTH_01
from .bare_metal import ISO_17, ISO_18, L3_13, SEC_16
from .budget import CST_01
from .cabling import CAP_03, TOP_08, TOP_09, TOP_15
from .clusters import ISO_29, ISO_30, TOP_26
from .completeness import FACT_01
from .controller_access import SEC_01, SEC_02, SEC_03
from .controller_backups import LIF_12
from .controller_entry import L3_09
from .controller_software import LIF_08
from .controllers import ISO_06, ISO_07
from .credentials import SEC_04, SEC_12
from .data_grants import SEC_11, SEC_14
from .data_network import ISO_03
from .encryption import SEC_10
from .exposure import EXPO_01, L3_08
from .fabric import ISO_13, TOP_21, TOP_23
from .failed_machines import TOP_28
from .fat_trees import TOP_17, TOP_18, TOP_19, TOP_25
from .filters import L3_11, L3_12
from .flavors import SEC_09
from .guest_software import SW_16, SW_17
from .host_room import CAP_02
from .hypervisors import SEC_08, SEC_21
from .images import SEC_15
from .infiniband import ISO_19, ISO_20, ISO_21, ISO_23
from .links import ISO_27
from .login_keys import SEC_05
from .lossless import TOP_22
from .mixed_software import SW_19
from .node_drivers import SW_01, SW_02, SW_03, SW_04, SW_12, SW_18
from .node_fabrics import SW_05, SW_06, SW_07, SW_08, SW_14
from .node_settings import SW_09, SW_10, SW_11, SW_13, SW_15
from .nvlink import ISO_22
from .operated import ISO_28
from .port_addresses import L3_03, L3_07, L3_10
from .ports import TOP_13, TOP_14
from .power import PWR_01, PWR_02, PWR_03, PWR_04, PWR_06
from .quarantine import ISO_16
from .racks import TOP_04, TOP_05, TOP_07
from .rights import ISO_24, ISO_25, ISO_26
from .rooms import PWR_05, PWR_07
from .routers import L3_01, L3_02, L3_05, L3_06
from .rule import Cause, Of, Polarity, Rule, RuleAnswer
from .safe_names import L3_15
from .segments import ISO_08, ISO_11, ISO_12
from .self_tests import LIF_13
from .separation import ISO_01, ISO_02, ISO_05
from .service_states import TOP_24
from .storage_fabrics import TOP_27
from .storage_networks import ISO_04
from .token_endpoints import L3_14
from .topology import TOP_02, TOP_03, TOP_06
from .trunks import ISO_14, ISO_15
from .vipu import TOP_10, TOP_11
from .virtual_functions import ISO_09, ISO_10
from .whole_nodes import LIF_03

RULES: tuple[Rule, ...] = (
    FACT_01,
    AUTH_01, EXPO_01,
    ISO_01, ISO_02, ISO_03, ISO_04, ISO_05, ISO_06, ISO_07, ISO_08, ISO_09, ISO_10, ISO_11, ISO_12, ISO_13, ISO_14,
    ISO_15, ISO_16, ISO_17, ISO_18, ISO_19, ISO_20, ISO_21, ISO_22, ISO_23, ISO_24, ISO_25, ISO_26, ISO_27,
    ISO_28, ISO_29, ISO_30,
    L3_01, L3_02, L3_03, L3_04, L3_05, L3_06, L3_07, L3_08, L3_09, L3_10, L3_11, L3_12, L3_13, L3_14, L3_15,
    SEC_01, SEC_02, SEC_03, SEC_04, SEC_05, SEC_08, SEC_09, SEC_10, SEC_11, SEC_12, SEC_14, SEC_15, SEC_16, SEC_21,
    TOP_02, TOP_03, TOP_04, TOP_05, TOP_06, TOP_07, TOP_08, TOP_09, TOP_10, TOP_11, TOP_13, TOP_14, TOP_15,
    TOP_17, TOP_18, TOP_19, TOP_21, TOP_22, TOP_23, TOP_24, TOP_25, TOP_26, TOP_27, TOP_28,
    CAP_02, CAP_03, CAP_05,
    PWR_01, PWR_02, PWR_03, PWR_04, PWR_05, PWR_06, PWR_07,
    CST_01,
    LIF_03, LIF_08, LIF_12, LIF_13,
    SW_01, SW_02, SW_03, SW_04, SW_05, SW_06, SW_07, SW_08, SW_09, SW_10, SW_11, SW_12, SW_13, SW_14, SW_15, SW_16,
    SW_17, SW_18, SW_19,
)  # fmt: skip

__all__ = ["RULES", "Cause", "Of", "Polarity", "Rule", "RuleAnswer"]
